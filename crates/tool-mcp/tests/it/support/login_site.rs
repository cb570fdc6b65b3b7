//! A server that wants to know who calls, and where to log in to it, on one address.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use reqwest::Url;
use serde_json::{Value, json};
use tool_core::Namespace;
use tool_mcp::ServerConfig;

use super::http_server::{Asked, HttpServer, Reply};

/// Both of them. Tools are `echo`, and `admin` for the scope of that name.
pub(crate) struct LoginSite {
    pub(crate) http: HttpServer,
    books: Arc<Mutex<Books>>,
}

/// What was given out, by its text.
#[derive(Default)]
struct Books {
    given: u32,
    /// Access tokens that are good, each with its scopes.
    access: BTreeMap<String, String>,
    /// Refresh tokens that were not used yet.
    refresh: BTreeSet<String>,
}

const METADATA: &str = "/.well-known/oauth-authorization-server";
const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

impl LoginSite {
    /// One that does as it should.
    pub(crate) async fn new() -> Self {
        Self::with(|_, reply| reply).await
    }

    /// One of which the test changes the answers.
    pub(crate) async fn with(
        change: impl Fn(&Asked, Reply) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let books = Arc::<Mutex<Books>>::default();
        let kept = Arc::clone(&books);
        let http = HttpServer::start(move |asked| {
            let reply = kept.lock().expect("no panic").answer(asked);
            change(asked, reply)
        });
        Self {
            http: http.await,
            books,
        }
    }

    /// One whose authorization server says something else of itself.
    pub(crate) async fn saying(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::with(move |asked, reply| match asked.target == METADATA {
            true => {
                let mut metadata = serde_json::from_str(&reply.body).expect("it is JSON");
                change(&mut metadata);
                Reply::json(&metadata)
            }
            false => reply,
        })
        .await
    }

    pub(crate) fn server(&self) -> ServerConfig {
        let name = Namespace::new("srv").expect("it is legal");
        ServerConfig::http(name, self.http.url())
    }

    pub(crate) fn issuer(&self) -> String {
        format!("http://{}", self.http.address)
    }

    /// No access token is good any more.
    pub(crate) fn expire(&self) {
        self.books.lock().expect("no panic").access.clear();
    }

    /// What was asked of a path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        let is_it = |asked: &Asked| asked.target.split('?').next() == Some(path);
        let mut asked = self.http.asked();
        asked.retain(is_it);
        asked
    }

    /// The forms that were sent for tokens.
    pub(crate) fn forms(&self) -> Vec<BTreeMap<String, String>> {
        self.asked("/token").iter().map(form).collect()
    }
}

/// The members of a form.
pub(crate) fn form(asked: &Asked) -> BTreeMap<String, String> {
    let mut url = Url::parse("http://localhost").expect("it is one");
    url.set_query(Some(&asked.text));
    url.query_pairs().into_owned().collect()
}

impl Books {
    fn answer(&mut self, asked: &Asked) -> Reply {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        match asked.target.as_str() {
            RESOURCE => Reply::json(&json!({
                "resource": format!("{base}/mcp"),
                "authorization_servers": [base],
            })),
            METADATA => Reply::json(&json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            })),
            "/register" => Reply {
                status: 201,
                ..Reply::json(&json!({
                    "client_id": "registered",
                    "client_secret": "canary-client-secret",
                    "redirect_uris": asked.body["redirect_uris"],
                }))
            },
            "/token" => self.tokens(&form(asked)),
            "/mcp" => self.serve(asked, &base),
            _ => Reply::empty(404),
        }
    }

    /// Each refresh token is good once.
    fn tokens(&mut self, form: &BTreeMap<String, String>) -> Reply {
        let asks = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        let good = match asks("grant_type") {
            "authorization_code" => asks("code") == "canary-code",
            "refresh_token" => self.refresh.remove(asks("refresh_token")),
            _ => false,
        };
        if !good {
            let refused = json!({"error": "invalid_grant", "error_description": "canary-said"});
            return Reply {
                status: 400,
                ..Reply::json(&refused)
            };
        }
        self.given += 1;
        let (access, refresh) = (
            format!("canary-access-{}", self.given),
            format!("canary-refresh-{}", self.given),
        );
        let scopes = match self.given {
            1 => "basic",
            _ => "basic admin",
        };
        self.access.insert(access.clone(), scopes.to_owned());
        self.refresh.insert(refresh.clone());
        Reply::json(&json!({
            "access_token": access,
            "refresh_token": refresh,
            "token_type": "Bearer",
            "expires_in": 3600,
            "scope": scopes,
            "id_token": "canary-id-token",
        }))
    }

    fn serve(&self, asked: &Asked, base: &str) -> Reply {
        let shown = asked.header("authorization").unwrap_or_default();
        let challenge =
            |rest: &str| format!("Bearer resource_metadata=\"{base}{RESOURCE}\", scope=\"{rest}\"");
        let Some(scopes) = self.access.get(shown.trim_start_matches("Bearer ")) else {
            let challenge = challenge("basic");
            return Reply::empty(401).with("www-authenticate", &challenge);
        };
        let tool = asked.body["params"]["name"].as_str().unwrap_or_default();
        if tool == "admin" && !scopes.contains("admin") {
            let challenge = format!("{}, error=\"insufficient_scope\"", challenge("admin"));
            return Reply::empty(403).with("www-authenticate", &challenge);
        }
        let complete = |mut result: Value| {
            result["resultType"] = json!("complete");
            asked.result(result)
        };
        let tools =
            ["echo", "admin"].map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
        match asked.method() {
            "server/discover" => complete(json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {}
            })),
            "tools/list" => complete(json!({ "tools": tools })),
            "tools/call" => complete(json!({"content": [{"type": "text", "text": tool}]})),
            _ => asked.error(404, -32601),
        }
    }
}
