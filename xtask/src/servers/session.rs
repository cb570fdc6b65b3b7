//! A client of a server over its standard streams, as small as it can be.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Error;

const STATELESS: &str = "2026-07-28";
const HANDSHAKE: &str = "2025-11-25";
/// How long one request may take. A server may take 11 s to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Handshake,
    Stateless,
}

/// A server, for as long as it is held.
pub(super) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    era: Era,
    next: u64,
}

impl Era {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Handshake => HANDSHAKE,
            Self::Stateless => STATELESS,
        }
    }
}

impl Session {
    /// Starts a server and greets it.
    pub(super) fn start(command: &mut Command, era: Era) -> Result<Self, Error> {
        let mut session = Self::spawn(command, era)?;
        if era == Era::Handshake {
            let params = json!({
                "protocolVersion": HANDSHAKE,
                "capabilities": {},
                "clientInfo": {"name": "xtask", "version": "1"},
            });
            session.ask("initialize", params)?;
            session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        }
        Ok(session)
    }

    /// Whether a server speaks the revision without a handshake. The process is of no use after it.
    pub(super) fn discover(command: &mut Command) -> bool {
        let answer = Self::spawn(command, Era::Stateless)
            .and_then(|mut session| session.ask("server/discover", json!({})));
        let answer = answer.unwrap_or_default();
        let versions = answer.pointer("/result/supportedVersions");
        let versions = versions.and_then(Value::as_array);
        versions.is_some_and(|versions| versions.iter().any(|version| version == STATELESS))
    }

    fn spawn(command: &mut Command, era: Era) -> Result<Self, Error> {
        let failed = |error| Error::because("the server could not be started", error);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                    // Not every line is a message.
                    if let Ok(message) = serde_json::from_slice(&line)
                        && sender.send(message).is_err()
                    {
                        return;
                    }
                }
            });
        }
        Ok(Self {
            stdin: child.stdin.take(),
            child,
            lines,
            era,
            next: 0,
        })
    }

    /// The whole answer to a request. A question of the server is answered by an error.
    pub(super) fn ask(&mut self, method: &str, mut params: Value) -> Result<Value, Error> {
        self.next += 1;
        let id = self.next;
        if let (Era::Stateless, Some(members)) = (self.era, params.as_object_mut()) {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "xtask", "version": "1"},
            });
            members.insert("_meta".to_owned(), meta);
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(message) = self.lines.recv_timeout(left) else {
                return Err(Error::new(format!("{method} is not answered")));
            };
            let (asked, of) = (message.get("method"), message.get("id"));
            match (asked, of) {
                (None, Some(of)) if *of == id => return Ok(message),
                (Some(_), Some(of)) => {
                    let error = json!({"code": -32601, "message": "not here"});
                    self.send(&json!({"jsonrpc": "2.0", "id": of, "error": error}))?;
                }
                _ => {}
            }
        }
    }

    /// All pages of the list of tools.
    pub(super) fn tools(&mut self) -> Result<Vec<Value>, Error> {
        let mut all = Vec::new();
        let mut params = json!({});
        loop {
            let mut answer = self.ask("tools/list", params)?;
            let tools = answer.pointer_mut("/result/tools").map(Value::take);
            let Some(Value::Array(tools)) = tools else {
                return Err(Error::new(format!("there is no list: {answer}")));
            };
            all.extend(tools);
            match answer.pointer("/result/nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(all),
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        let failed = |error| Error::because("the server reads nothing", error);
        let Some(stdin) = &mut self.stdin else {
            return Err(Error::new("the server reads nothing"));
        };
        writeln!(stdin, "{message}").map_err(failed)?;
        stdin.flush().map_err(failed)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It is told by the end of its input, and has a while to end what it started.
        self.stdin = None;
        let until = Instant::now() + Duration::from_secs(3);
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
