//! A terminal with the program on it.

use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::deadline::until;
use crate::invocation::{Invocation, wait};
use crate::peers::skip;

/// A run of the program that believes a person to be there.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl Terminal {
    /// Starts the program on a terminal of 100 columns, which `script` of util-linux provides. Where
    /// that is missing, the test is skipped by name.
    #[track_caller]
    pub(crate) fn start(test: &str, invocation: Invocation) -> Option<Self> {
        let version = Command::new("script").arg("--version").output();
        if !version.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("util-linux")) {
            skip(
                test,
                "there is no script of util-linux to make a terminal with",
            );
            return None;
        }
        let line = format!("stty cols 100 rows 40; exec {}", invocation.line());
        let mut script = Command::new("script");
        let like = invocation.into_command();
        script.current_dir(like.get_current_dir().unwrap());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        let mut child = script
            .env("TERM", "xterm")
            .args([
                "--quiet",
                "--return",
                "--flush",
                "--command",
                &line,
                "/dev/null",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let keys = child.stdin.take().unwrap();
        let mut screen = child.stdout.take().unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&shown);
        let reading = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = screen.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..bytes]);
            }
        });
        Some(Self {
            child,
            keys,
            shown,
            reading,
        })
    }

    /// Waits until this was shown.
    #[track_caller]
    pub(crate) fn wait_for(&self, wanted: &str) {
        until(wanted, || self.shown().contains(wanted).then_some(()));
    }

    /// Types these keys.
    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// All that was shown, and the status that the program ended with.
    #[track_caller]
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let status = wait(&mut self.child).expect("the program on the terminal ends");
        self.reading.join().unwrap();
        let shown = String::from_utf8(self.shown.lock().unwrap().clone()).unwrap();
        (shown, status.code())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }
}
