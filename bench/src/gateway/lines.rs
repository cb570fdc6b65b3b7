//! A client over the standard streams of a process.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;

use super::upstream::SUM;

/// A process and the client of it. Dropping it ends the process.
pub struct Lines {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    call: Vec<u8>,
    line: Vec<u8>,
}

impl Lines {
    /// Starts a process, shakes hands, and finds that its tool of that name answers.
    pub fn start(command: &mut Command, tool: &str) -> Result<Self, Box<dyn Error>> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("the process has no output")?;
        let mut lines = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            call: call(tool, 1),
            line: Vec::new(),
        };
        lines.send(&hello())?;
        lines.receive()?;
        lines.send(&initialized())?;
        lines.call()?;
        Ok(lines)
    }

    /// One call, from the first byte written to the last byte read.
    pub fn call(&mut self) -> Result<(), Box<dyn Error>> {
        let call = std::mem::take(&mut self.call);
        let sent = self.send(&call);
        self.call = call;
        sent?;
        loop {
            self.receive()?;
            if is_answer(&self.line) {
                return Ok(());
            }
            if !contains(&self.line, "\"method\"") {
                let text = String::from_utf8_lossy(&self.line).into_owned();
                return Err(format!("a call was answered with {text}").into());
            }
        }
    }

    fn send(&mut self, line: &[u8]) -> Result<(), Box<dyn Error>> {
        let stdin = self.stdin.as_mut().ok_or("the input is closed")?;
        Ok(stdin.write_all(line)?)
    }

    fn receive(&mut self) -> Result<(), Box<dyn Error>> {
        self.line.clear();
        match self.stdout.read_until(b'\n', &mut self.line)? {
            0 => Err("the process has closed its output".into()),
            _ => Ok(()),
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}

/// The first message of a client, as a line.
pub fn hello() -> Vec<u8> {
    line(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }}),
    )
}

/// The second one.
pub fn initialized() -> Vec<u8> {
    line(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

/// A call of the tool, under a number that no other call on its way has.
pub fn call(tool: &str, id: usize) -> Vec<u8> {
    line(
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": tool,
            "arguments": {"a": 19, "b": 23},
        }}),
    )
}

/// Whether that is the answer that everybody has to give.
pub fn is_answer(text: &[u8]) -> bool {
    contains(text, SUM)
}

fn contains(text: &[u8], part: &str) -> bool {
    memchr::memmem::find(text, part.as_bytes()).is_some()
}

fn line(message: serde_json::Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
