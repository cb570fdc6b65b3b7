//! Clients that start the program with local sockets in place of pipes, as programs on Node do.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::deadline::PATIENCE;
use crate::invocation::wait;
use crate::workbench::Workbench;

/// Of the flags of an open file.
const NON_BLOCKING: u32 = 0o4000;

#[test]
fn a_client_over_local_sockets_is_served_without_a_thread_for_each_step() {
    let bench = Workbench::new();
    let (input, stdin) = UnixStream::pair().unwrap();
    let (output, stdout) = UnixStream::pair().unwrap();
    let given = |socket: &UnixStream| Stdio::from(OwnedFd::from(socket.try_clone().unwrap()));
    let mut serve = bench.tool(&["serve"]).into_command();
    serve.stdin(given(&stdin)).stdout(given(&stdout));
    let mut child = serve.stderr(Stdio::null()).spawn().unwrap();
    drop(serve);

    output.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut input, mut output) = (input, BufReader::new(output).lines());
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        input.write_all(format!("{request}\n").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    };
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    assert_eq!(ask(0, "initialize", hello)["protocolVersion"], "2025-11-25");
    // More than any socket takes at once.
    let much = "x".repeat(3 * 1024 * 1024);
    assert_eq!(ask(1, "ping", json!({"padding": much})), json!({}));
    assert_eq!(
        ask(2, "tools/list", json!({}))["tools"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
    for socket in [&stdin, &stdout] {
        assert_ne!(flags(socket) & NON_BLOCKING, 0);
    }

    drop(input);
    assert!(wait(&mut child).unwrap().success());
}

#[test]
fn a_socket_stays_as_it_is_where_the_other_stream_is_of_another_kind() {
    let bench = Workbench::new();
    let (mut input, stdin) = UnixStream::pair().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stdout = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (output, _) = listener.accept().unwrap();
    let mut serve = bench.tool(&["serve"]).into_command();
    serve.stdin(Stdio::from(OwnedFd::from(stdin.try_clone().unwrap())));
    serve.stdout(Stdio::from(OwnedFd::from(stdout)));
    let mut child = serve.stderr(Stdio::null()).spawn().unwrap();
    drop(serve);

    output.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut output = BufReader::new(output).lines();
    // The second is read only if it was waited for.
    for id in [1, 2] {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        input.write_all(format!("{ping}\n").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(flags(&stdin) & NON_BLOCKING, 0);
    }
    drop(input);
    assert!(wait(&mut child).unwrap().success());
}

/// The flags of an open file, which are the same for all who have it.
fn flags(socket: &UnixStream) -> u32 {
    let path = format!("/proc/self/fdinfo/{}", socket.as_raw_fd());
    let told = fs::read_to_string(path).unwrap();
    let flags = told.lines().find_map(|line| line.strip_prefix("flags:"));
    u32::from_str_radix(flags.unwrap().trim(), 8).unwrap()
}
