//! An HTTP server, written by hand so that every byte is the test's.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What a client asked. The names of headers are in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    /// The path and the query.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only logins look"))]
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    /// The same as it came.
    pub(crate) text: String,
}

/// What it is answered.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
    /// Whether the connection stays open after the body.
    pub(crate) open: bool,
}

/// A server that answers as it is told, one request for each connection.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// How many connections that stayed open were closed by the client.
    hung_up: Arc<Mutex<usize>>,
    _serving: JoinSet<()>,
}

impl Asked {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The answer to this request, as one body.
    pub(crate) fn result(&self, result: Value) -> Reply {
        Reply::json(&json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}))
    }

    pub(crate) fn error(&self, status: u16, code: i64) -> Reply {
        let error = json!({"code": code, "message": "no"});
        let body = json!({"jsonrpc": "2.0", "id": self.body["id"], "error": error});
        Reply {
            status,
            ..Reply::json(&body)
        }
    }

    /// The answer to this request, as an event of a stream.
    pub(crate) fn event(&self, result: Value) -> String {
        let message = json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result});
        format!("data: {message}\n\n")
    }
}

impl Reply {
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
            open: false,
        }
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self {
            headers: vec![("content-type", "application/json; charset=utf-8".to_owned())],
            body: body.to_string(),
            ..Self::empty(200)
        }
    }

    pub(crate) fn events(body: String, open: bool) -> Self {
        Self {
            headers: vec![("content-type", "text/event-stream".to_owned())],
            body,
            open,
            ..Self::empty(200)
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

impl HttpServer {
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("it has one");
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let hung_up = Arc::<Mutex<usize>>::default();
        let mut serving = JoinSet::new();
        let (log, gone, answer) = (Arc::clone(&asked), Arc::clone(&hung_up), Arc::new(answer));
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (log, gone, answer) =
                    (Arc::clone(&log), Arc::clone(&gone), Arc::clone(&answer));
                connections.spawn(async move {
                    if serve(stream, &log, &*answer).await {
                        *gone.lock().expect("no panic") += 1;
                    }
                });
            }
        });
        Self {
            address,
            asked,
            hung_up,
            _serving: serving,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    /// The first request of a method.
    pub(crate) fn first(&self, method: &str) -> Option<Asked> {
        self.asked()
            .into_iter()
            .find(|asked| asked.method() == method)
    }

    pub(crate) fn hung_up(&self) -> usize {
        *self.hung_up.lock().expect("no panic")
    }
}

/// Serves one request. Whether the client closed a connection that was kept open.
async fn serve(
    stream: TcpStream,
    log: &Mutex<Vec<Asked>>,
    answer: &(impl Fn(&Asked) -> Reply + ?Sized),
) -> bool {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("it is text");
    let mut words = line.split(' ').map(str::to_owned);
    let verb = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.expect("it is text");
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length");
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).await.is_err() {
        return false;
    }
    let asked = Asked {
        verb,
        target,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        text: String::from_utf8_lossy(&body).into_owned(),
    };
    let reply = answer(&asked);
    log.lock().expect("no panic").push(asked);
    let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !reply.open {
        head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
    }
    let text = format!("{head}\r\n{}", reply.body);
    if stream.write_all(text.as_bytes()).await.is_err() || stream.flush().await.is_err() {
        return false;
    }
    // Nothing more comes of a client but its end.
    reply.open && stream.read(&mut [0; 1]).await.is_ok_and(|read| read == 0)
}
