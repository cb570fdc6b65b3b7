//! A client of a few lines over standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::deadline::PATIENCE;
use crate::invocation::{Invocation, drain, wait};

/// `tool serve` and a client of it.
pub(crate) struct StdioClient {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    next_id: u64,
}

impl StdioClient {
    /// Starts it and shakes hands.
    #[track_caller]
    pub(crate) fn start(serve: Invocation) -> Self {
        let mut child = serve
            .into_command()
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drain(child.stderr.take().unwrap());
        let stdin = child.stdin.take();
        let messages = read(child.stdout.take().unwrap());
        let mut client = Self {
            child,
            stdin,
            messages,
            next_id: 0,
        };
        client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        client.notify("notifications/initialized", json!({}));
        client
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Asks, and waits for the answer: its result, or its error.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id, |_| {})
    }

    /// Waits for the answer, and gives everything that comes before it away.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64, mut before: impl FnMut(Value)) -> Value {
        loop {
            let Ok(message) = self.messages.recv_timeout(PATIENCE) else {
                panic!("request {id} was not answered");
            };
            if message.get("id") != Some(&json!(id)) {
                before(message);
                continue;
            }
            let answer = message.get("result").or(message.get("error"));
            return answer.unwrap().clone();
        }
    }

    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Asks, and leaves the answer for later.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.write(
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}),
        );
        self.next_id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Closes the standard input of the program, as a client does that is done with it.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        wait(&mut self.child).expect("tool serve ends")
    }

    fn write(&mut self, message: Value) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every line of standard output must be a message.
fn read(stdout: ChildStdout) -> Receiver<Value> {
    let (sender, messages) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { return };
            let message = serde_json::from_str(&line).expect("a line of stdout is a message");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}
