//! `tool serve --http`, for as long as a test needs it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::deadline::until;
use crate::invocation::{Invocation, drain, wait};

/// A running server. Dropping it kills it.
pub(crate) struct Serving {
    child: Child,
    said: Arc<Mutex<String>>,
    url: String,
}

impl Serving {
    /// Starts it on a free port for whoever comes, and waits until it says where it is.
    #[track_caller]
    pub(crate) fn start(serve: Invocation) -> Self {
        Self::start_guarded(serve.args(["--no-token"]))
    }

    /// The same for clients that show a token.
    #[track_caller]
    pub(crate) fn start_guarded(serve: Invocation) -> Self {
        let mut child = serve
            .args(["--http", "127.0.0.1:0"])
            .into_command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drain(child.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let (stderr, heard) = (child.stderr.take().unwrap(), Arc::clone(&said));
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut heard = heard.lock().unwrap();
                heard.push_str(&line);
                heard.push('\n');
            }
        });
        let url = until("the address of the server", || {
            let said = said.lock().unwrap();
            let (_, rest) = said.split_once("serving MCP at ")?;
            let (url, _) = rest.split_once('\n')?;
            Some(url.to_owned())
        });
        Self { child, said, url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until standard error says this, and gives all that it said.
    #[track_caller]
    pub(crate) fn said(&self, wanted: &str) -> String {
        until(wanted, || {
            let said = self.said.lock().unwrap();
            said.contains(wanted).then(|| said.clone())
        })
    }

    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        wait(&mut self.child).expect("tool serve ends")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
