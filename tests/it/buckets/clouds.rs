//! The buckets of Google and Azure, by URL and environment, on a server that answers as they do.
//!
//! What this proves is that a URL and an environment lead to requests for the right objects under the
//! right conditions, with each cloud's own headers. The server knows what their documentation says of
//! putting and getting one object; it is neither of them.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use tool_runtime::core::{State as _, StateReading};
use tool_runtime::storage::{Bucket, BucketState};

const URL: &str = "CLOUD_URL";

/// A request: its first line without the protocol, and its headers in lower case.
#[derive(Clone, Debug)]
struct Asked {
    line: String,
    headers: HashMap<String, String>,
}

#[derive(Default)]
struct Cloud {
    asked: Mutex<Vec<Asked>>,
    /// Objects by path, each with its generation.
    objects: Mutex<HashMap<String, (u64, Vec<u8>)>>,
}

impl Cloud {
    /// Serves on loopback for as long as the test runs.
    fn start() -> (Arc<Self>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let cloud = Arc::new(Self::default());
        let serving = Arc::clone(&cloud);
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                serving.answer(&socket);
            }
        });
        (cloud, endpoint)
    }

    /// Answers one request and closes.
    fn answer(&self, mut socket: &TcpStream) {
        let mut reader = BufReader::new(socket);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let Some((first, headers)) = lines.split_first() else {
            return;
        };
        let headers: HashMap<String, String> = headers
            .iter()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let len = headers
            .get("content-length")
            .map_or(0, |len| len.parse().unwrap());
        let mut body = vec![0; len];
        reader.read_exact(&mut body).unwrap();
        let line = first.trim_end_matches(" HTTP/1.1").to_owned();
        let asked = Asked { line, headers };
        self.asked.lock().unwrap().push(asked.clone());
        let (status, generation, body) = self.done(&asked, body);
        let head = format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\
             etag: \"g{generation}\"\r\nx-goog-generation: {generation}\r\n\
             last-modified: Mon, 30 Nov 2026 12:00:00 GMT\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).unwrap();
        socket.write_all(&body).unwrap();
    }

    fn done(&self, asked: &Asked, body: Vec<u8>) -> (&'static str, u64, Vec<u8>) {
        let (verb, path) = asked.line.split_once(' ').unwrap();
        let mut objects = self.objects.lock().unwrap();
        let there = objects.get(path).cloned();
        let generation = there.as_ref().map_or(0, |(generation, _)| *generation);
        let header = |name: &str| asked.headers.get(name).map(String::as_str);
        let tag = format!("\"g{generation}\"");
        let is_met = match (
            header("x-goog-if-generation-match"),
            header("if-none-match"),
            header("if-match"),
        ) {
            (Some(expected), ..) => expected == generation.to_string(),
            (None, Some("*"), _) => there.is_none(),
            (None, _, Some(expected)) => expected == tag,
            _ => true,
        };
        match (verb, there) {
            ("PUT", _) if !is_met => ("412 Precondition Failed", generation, Vec::new()),
            ("PUT", _) => {
                objects.insert(path.to_owned(), (generation + 1, body));
                ("201 Created", generation + 1, Vec::new())
            }
            ("GET", Some(_)) if header("if-none-match") == Some(&tag) => {
                ("304 Not Modified", generation, Vec::new())
            }
            ("GET", Some((_, bytes))) => ("200 OK", generation, bytes),
            _ => ("404 Not Found", 0, Vec::new()),
        }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Writes and reads state in the bucket that a URL names. It is a test by name only: the environment
/// is that of a process of its own.
#[tokio::test]
async fn user() {
    let Ok(url) = std::env::var(URL) else {
        return;
    };
    let state = BucketState::new(Bucket::from_url(&url).unwrap());
    assert_eq!(state.read("key", None).await.unwrap(), StateReading::Absent);
    let first = state.write("key", None, b"one").await.unwrap().unwrap();
    assert!(state.write("key", None, b"x").await.unwrap().is_none());
    let second = state.write("key", Some(&first), b"two").await.unwrap();
    let second = second.unwrap();
    let late = state.write("key", Some(&first), b"x").await.unwrap();
    assert!(late.is_none());
    let read = state.read("key", None).await.unwrap();
    assert_eq!(read, StateReading::Value(b"two".to_vec(), second.clone()));
    let read = state.read("key", Some(&second)).await.unwrap();
    assert_eq!(read, StateReading::Unchanged);
}

/// Runs the user above with an environment.
fn run(url: &str, environment: &[(&str, &str)]) {
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["buckets::clouds::user", "--exact", "--nocapture"])
        .env(URL, url)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// Whether all is asked of one object below a path, and which conditions are put.
#[track_caller]
fn conditions(cloud: &Cloud, below: &str, header: &str) -> Vec<String> {
    let asked = cloud.asked();
    assert!(asked.len() >= 7, "{asked:?}");
    for asked in &asked {
        let (verb, path) = asked.line.split_once(' ').unwrap();
        assert!(verb == "PUT" || verb == "GET", "{asked:?}");
        let name = path
            .strip_prefix(below)
            .unwrap_or_else(|| panic!("{asked:?}"));
        assert_eq!(name.len(), 64, "{asked:?}");
    }
    let puts = asked.iter().filter(|asked| asked.line.starts_with("PUT"));
    let conditions = puts.map(|put| put.headers.get(header).cloned().unwrap_or_default());
    conditions.collect()
}

#[test]
fn a_bucket_of_google_is_asked_by_generation() {
    let (cloud, endpoint) = Cloud::start();
    let key = r#"{"private_key":"none","private_key_id":"none","client_email":"none","disable_oauth":true}"#;
    run(
        "gs://bucket/gateway/state",
        &[
            ("GOOGLE_SERVICE_ACCOUNT_KEY", key),
            ("GOOGLE_BASE_URL", &endpoint),
            ("GOOGLE_ALLOW_HTTP", "true"),
        ],
    );
    let below = "/bucket/gateway%2Fstate%2Fstate%2Fvalues%2F";
    let conditions = conditions(&cloud, below, "x-goog-if-generation-match");
    assert_eq!(conditions, ["0", "0", "1", "1"]);
}

#[test]
fn a_container_of_azure_is_asked_by_tag_with_the_key_of_its_account() {
    let (cloud, endpoint) = Cloud::start();
    run(
        "az://container/gateway/state",
        &[
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0"),
            ("AZURE_STORAGE_ENDPOINT", &endpoint),
            ("AZURE_ALLOW_HTTP", "true"),
        ],
    );
    let below = "/container/gateway/state/state/values/";
    let matches = conditions(&cloud, below, "if-match");
    assert_eq!(matches, ["", "", "\"g1\"", "\"g1\""]);
    let creates = conditions(&cloud, below, "if-none-match");
    assert_eq!(creates, ["*", "*", "", ""]);
    for asked in cloud.asked() {
        let by = asked.headers.get("authorization").unwrap();
        assert!(by.starts_with("SharedKey account:"), "{by}");
        assert!(!format!("{asked:?}").contains("c2VjcmV0"));
    }
}
