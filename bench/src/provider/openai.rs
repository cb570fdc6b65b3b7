//! OpenAI's package for Node: its helper for strict schemas, in a process of its own.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::corpus::Corpus;

/// A process that goes over the whole set once for each line that it is sent.
pub struct OpenAi {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What one turn took, by its own clock.
pub struct Round {
    pub nanos: f64,
    /// How many definitions it took; it throws for the others.
    pub taken: u64,
}

impl OpenAi {
    /// Starts it, if `TOOL_PEERS` names a folder that has the package.
    ///
    /// # Errors
    /// Why it cannot be had, in words.
    pub fn start(corpus: &Corpus) -> Result<Self, String> {
        let peers = std::env::var_os("TOOL_PEERS").ok_or(
            "which `cargo xtask peers` installs and `cargo xtask bench` then finds; TOOL_PEERS, which \
             names its folder, is not set",
        )?;
        let module = PathBuf::from(peers).join("node/node_modules/openai/lib/transform.mjs");
        if !module.is_file() {
            return Err(
                "which the installed peers lack; `cargo xtask peers` installs it".to_owned(),
            );
        }
        let mut child = Command::new("node")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/openai.mjs"))
            .args([&module, &corpus.folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node could not be started: {error}"))?;
        let (ask, answers) = (child.stdin.take(), child.stdout.take());
        let mut peer = Self {
            ask: ask.ok_or("node has no input")?,
            answers: BufReader::new(answers.ok_or("node has no output")?),
            child,
        };
        match peer.round() {
            Ok(_) => Ok(peer),
            Err(error) => Err(format!("node did not answer: {error}")),
        }
    }

    /// Has it go over the whole set once.
    pub fn round(&mut self) -> Result<Round, Box<dyn Error>> {
        self.ask.write_all(b"\n")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        let nanos = answer["nanos"].as_f64().ok_or("there is no time")?;
        let taken = answer["taken"].as_u64().ok_or("there is no count")?;
        Ok(Round { nanos, taken })
    }
}

impl Drop for OpenAi {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
