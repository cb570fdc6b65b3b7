//! Servers that point elsewhere: nobody goes there.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tool_mcp::{Server, ServersConfig, Upstreams};

use crate::support::imported::server;
use crate::support::peer::{Peer, modern};
use crate::support::pointing::POINTS_AT;
use crate::support::registry::permissive;

const SECRET: &str = "what lies in the file";

/// When a file was read last, as far as its disk says so.
fn read_at(file: &File) -> SystemTime {
    let read = file.metadata().expect("it is there").accessed();
    read.expect("the system has it")
}

#[tokio::test]
async fn nothing_that_a_server_points_at_is_fetched_or_read() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("canary");
    std::fs::write(&path, SECRET).expect("it can be written");
    let file = File::options().append(true).open(&path).expect("it opens");
    // Earlier than it was changed, so that reading it leaves a mark.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    file.set_times(FileTimes::new().set_accessed(long_ago))
        .expect("it is ours");

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let uris = [
        format!("http://{address}/canary.json"),
        format!("file://{}", path.display()),
    ];
    let config = server("srv", "pointing").env(POINTS_AT, uris.join(" "));
    let registry = permissive().build();
    let upstreams = Upstreams::builder(ServersConfig::default().with(config)).connect(&registry);
    upstreams.settled().await;
    let gateway = Server::new(registry).offerings(upstreams.offerings());

    let mut told = String::new();
    for wants in [|params| params, modern] {
        let mut peer = Peer::connect(&gateway).await;
        let mut id = 0;
        let mut ask = async |method: &str, params: Value| {
            id += 1;
            let answer = peer.ask(id, method, wants(params)).await;
            assert!(answer.get("error").is_none(), "{method}: {answer}");
            answer.to_string()
        };
        for (method, params) in [
            ("tools/list", json!({})),
            ("tools/call", json!({"name": "srv__point", "arguments": {}})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": uris[0]})),
            ("resources/read", json!({"uri": uris[1]})),
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "srv__p"})),
        ] {
            told += &ask(method, params).await;
        }
    }
    upstreams.shutdown().await;

    // The client is shown where the server points, and may go there itself.
    assert!(uris.iter().all(|uri| told.contains(uri)));
    assert!(told.contains("the server's own") && !told.contains(SECRET));
    assert_eq!(read_at(&file), long_ago);
    // Whoever had come would wait to be let in.
    let come = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(come.is_err(), "{come:?}");

    // Both would have been noticed.
    let _visitor = std::net::TcpStream::connect(address).expect("it listens");
    assert!(listener.accept().await.is_ok());
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), SECRET);
    if read_at(&file) == long_ago {
        eprintln!("skipped: this disk does not say when a file was read");
    }
}
