//! A server that wants to know who calls, and where to log in to it, in a few lines.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// Both on one address, for as long as the test runs.
pub(crate) struct LoginSite {
    address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl LoginSite {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::<Mutex<String>>::default();
        let heard = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let heard = Arc::clone(&heard);
                // A client that leaves early is the test's business.
                thread::spawn(move || serve(stream, address, &heard).ok());
            }
        });
        Self { address, log }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Everything that was asked.
    pub(crate) fn asked(&self) -> String {
        self.log.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, address: SocketAddr, log: &Mutex<String>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body)?;
    log.lock()
        .unwrap()
        .push_str(&format!("{head}{}\n", String::from_utf8_lossy(&body)));
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let base = format!("http://{address}");
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let resource = "/.well-known/oauth-protected-resource/mcp";
    let is_known = header("authorization") == "Bearer canary-access";
    let (status, more, answer) = match path.as_str() {
        path if path == resource => (
            200,
            String::new(),
            json!({
                "resource": format!("{base}/mcp"), "authorization_servers": [base],
            }),
        ),
        "/.well-known/oauth-authorization-server" => (
            200,
            String::new(),
            json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "revocation_endpoint": format!("{base}/revoke"),
                "code_challenge_methods_supported": ["S256"],
            }),
        ),
        "/register" => (
            201,
            String::new(),
            json!({
                "client_id": "tool", "client_secret": "canary-secret", "redirect_uris": [],
            }),
        ),
        "/token" => (
            200,
            String::new(),
            json!({
                "access_token": "canary-access", "refresh_token": "canary-refresh",
                "token_type": "Bearer", "scope": "read", "expires_in": 3600,
            }),
        ),
        "/revoke" => (200, String::new(), json!({})),
        "/mcp" if is_known => (200, String::new(), answer(&asked)),
        "/mcp" => {
            let challenge = format!(
                "www-authenticate: Bearer resource_metadata=\"{base}{resource}\", scope=\"read\"\r\n"
            );
            (401, challenge, json!({}))
        }
        _ => (404, String::new(), json!({})),
    };
    let text = answer.to_string();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status} x\r\n{more}content-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    )
}

fn answer(asked: &Value) -> Value {
    let result = match asked["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
        }),
        "tools/list" => json!({"resultType": "complete", "tools": [
            {"name": "echo", "inputSchema": {"type": "object"}},
        ]}),
        _ => json!({"resultType": "complete", "content": [{"type": "text", "text": "heard"}]}),
    };
    json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})
}
