//! Servers that want to know who calls.
//!
//! The page to log in on says yes by itself, so that a person is a request that looks where it is
//! sent. What the suite does not allow a login to come to is a failure here, and its scenarios
//! expect that.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tool_core::{BoxFuture, Credential};
use tool_mcp::{Authorization, AuthorizationPage, Authorizer, Logins, OAuthClient, UpstreamState};
use tool_registry::MemoryState;

use crate::scenario::{Failure, Running, Scenario};
use crate::session::Session;
use crate::setting::Setting;

/// Where people come back, which nobody ever does.
const REDIRECT_URI: &str = "http://127.0.0.1:8789/callback";
/// The document that says who we are, as the suite names it.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// How long a login and the list after it may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A person who agrees to everything.
struct Agreeing;

/// One login of theirs.
struct Agreed;

impl Authorizer for Agreeing {
    fn begin<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Box<dyn Authorization>, String>> {
        Box::pin(async { Ok(Box::new(Agreed) as Box<dyn Authorization>) })
    }
}

impl Authorization for Agreed {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn authorize<'a>(
        self: Box<Self>,
        page: &'a AuthorizationPage,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async {
            let sent_on = sent_on(&page.url)
                .await
                .map_err(|error| error.to_string())?;
            sent_on.ok_or_else(|| "the page sends nobody on".to_owned())
        })
    }
}

/// Where the page of an address sends whoever opens it.
async fn sent_on(url: &str) -> std::io::Result<Option<String>> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location")
            .then(|| value.trim().to_owned())
    });
    Ok(location)
}

const fn scenario(name: &'static str) -> Scenario {
    Scenario { name, run }
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    scenario("auth/metadata-default"),
    scenario("auth/metadata-var1"),
    scenario("auth/metadata-var2"),
    scenario("auth/metadata-var3"),
    scenario("auth/basic-cimd"),
    scenario("auth/scope-from-www-authenticate"),
    scenario("auth/scope-from-scopes-supported"),
    scenario("auth/scope-omitted-when-undefined"),
    scenario("auth/scope-step-up"),
    scenario("auth/scope-retry-limit"),
    scenario("auth/token-endpoint-auth-basic"),
    scenario("auth/token-endpoint-auth-post"),
    scenario("auth/token-endpoint-auth-none"),
    scenario("auth/pre-registration"),
    scenario("auth/resource-mismatch"),
    scenario("auth/offline-access-scope"),
    scenario("auth/offline-access-not-supported"),
    scenario("auth/authorization-server-migration"),
    scenario("auth/iss-supported"),
    scenario("auth/iss-not-advertised"),
    scenario("auth/iss-supported-missing"),
    scenario("auth/iss-wrong-issuer"),
    scenario("auth/iss-unexpected"),
    scenario("auth/iss-normalized"),
    scenario("auth/metadata-issuer-mismatch"),
];

fn run(setting: Setting) -> Running {
    Box::pin(logged_in(setting))
}

/// Logs in as the server wants it, and calls every tool.
async fn logged_in(setting: Setting) -> Result<(), Failure> {
    let text = |key: &str| setting.context.get(key)?.as_str();
    let mut client = OAuthClient::default().metadata_url(DOCUMENT);
    if let Some(id) = text("client_id") {
        client = client.id(id);
    }
    if let Some(issuer) = text("issuer") {
        client = client.issuer(issuer);
    }
    if let Some(secret) = text("client_secret") {
        client = client.secret(Credential::new(secret));
    }
    let state = Arc::new(MemoryState::default());
    let logins = Logins::new(state).authorizer(Arc::new(Agreeing));
    let server = setting.server()?.oauth(client);
    let mut session = Session::begin(server, |upstreams| upstreams.logins(logins));
    tokio::time::timeout(PATIENCE, ready(&mut session)).await??;
    for tool in session.tools() {
        session.call(&tool, json!({})).await?;
    }
    session.close().await
}

/// Waits until the tools are there, or it is clear that they never will.
async fn ready(session: &mut Session) -> Result<(), Failure> {
    loop {
        let status = session.upstreams.statuses().into_iter().next();
        match status.map(|status| status.state) {
            Some(UpstreamState::Ready { .. }) => return Ok(()),
            Some(UpstreamState::Locked { reason }) if reason.contains("failed") => {
                return Err(format!("the server {reason}").into());
            }
            Some(UpstreamState::Failed { reason } | UpstreamState::Away { reason, .. }) => {
                return Err(format!("the server {reason}").into());
            }
            _ => session.upstreams.changed().await,
        }
    }
}
