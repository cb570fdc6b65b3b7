//! Whose login is used for what.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tool_core::{Namespace, State};
use tool_mcp::{
    BearerToken, HttpOptions, Limits, Logins, Server, ServerConfig, ServersConfig, UpstreamState,
    Upstreams,
};
use tool_registry::{MemoryState, Registry};

use crate::support::eventually;
use crate::support::http::{Client, request};
use crate::support::http_server::Reply;
use crate::support::login_site::LoginSite;
use crate::support::person::Person;
use crate::support::registry::permissive;

const INBOUND: &str = "canary-inbound-0001";

fn connect(registry: &Registry, server: ServerConfig, logins: &Logins) -> Upstreams {
    Upstreams::builder(ServersConfig::default().with(server))
        .limits(Limits::default().retries(0))
        .logins(logins.clone())
        .connect(registry)
}

fn is_ready(upstreams: &Upstreams) -> bool {
    let statuses = upstreams.statuses();
    matches!(statuses[0].state, UpstreamState::Ready { .. })
}

#[tokio::test]
async fn what_a_client_shows_is_not_passed_on_and_a_server_gets_what_is_its_own() {
    let site = LoginSite::new().await;
    let logins = Logins::new(Arc::new(MemoryState::default()));
    logins
        .login(&site.server(), &Person::agreeing())
        .await
        .expect("it agrees");
    let registry = permissive().build();
    let upstreams = connect(&registry, site.server(), &logins);
    upstreams.settled().await;
    let token = BearerToken::new(INBOUND).expect("it is one");
    let options = HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0))).token(token);
    let served = Server::new(registry)
        .serve_http(options)
        .await
        .expect("it listens");

    let client = Client::new(served.address());
    let shown = format!("Bearer {INBOUND}");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "srv__echo", "arguments": {}, "_meta": meta});
    let headers = [
        ("Authorization", shown.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "srv__echo"),
    ];
    let mut answer = client
        .post(&request(1, "tools/call", params), &headers)
        .await;
    let answer = answer.until(1).await;
    assert_eq!(answer["result"]["content"][0]["text"], "echo", "{answer}");

    let calls = site.asked("/mcp");
    let call = calls.iter().find(|asked| asked.method() == "tools/call");
    let call = call.expect("it was called");
    assert_eq!(call.header("authorization"), Some("Bearer canary-access-1"));
    for asked in site.http.asked() {
        let all = format!("{:?} {} {}", asked.headers, asked.target, asked.text);
        assert!(!all.contains(INBOUND), "{all}");
    }
    served.shutdown().await;
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_login_is_for_the_address_that_it_was_made_at() {
    let (site, other) = (LoginSite::new().await, LoginSite::new().await);
    let logins = Logins::new(Arc::new(MemoryState::default()));
    logins
        .login(&site.server(), &Person::agreeing())
        .await
        .expect("it agrees");
    assert_eq!(
        logins.status(&other.server()).await.expect("it is read"),
        None
    );
    let registry = permissive().build();
    let upstreams = connect(&registry, other.server(), &logins);
    upstreams.settled().await;
    assert!(!is_ready(&upstreams));
    for asked in other.http.asked() {
        assert_eq!(asked.header("authorization"), None);
    }
    upstreams.shutdown().await;
}

#[tokio::test]
async fn tokens_go_to_no_other_server_and_to_no_page_of_the_login() {
    let (site, other) = (LoginSite::new().await, LoginSite::new().await);
    let logins = Logins::new(Arc::new(MemoryState::default()));
    logins
        .login(&site.server(), &Person::agreeing())
        .await
        .expect("it agrees");
    let name = Namespace::new("other").expect("it is legal");
    let second = ServerConfig::http(name, other.http.url());
    let registry = permissive().build();
    let config = ServersConfig::default().with(site.server()).with(second);
    let upstreams = Upstreams::builder(config).logins(logins).connect(&registry);
    upstreams.settled().await;
    for asked in other.http.asked() {
        assert_eq!(asked.header("authorization"), None);
    }
    for asked in site.http.asked() {
        let shown = asked.header("authorization").unwrap_or_default();
        let is_token = shown.starts_with("Bearer ");
        assert!(!is_token || asked.target == "/mcp", "{}", asked.target);
    }
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_refresh_token_goes_to_nobody_but_who_gave_it() {
    let successor = LoginSite::new().await;
    let moved = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (now, next) = (Arc::clone(&moved), successor.issuer());
    let site = LoginSite::with(move |asked, reply| {
        let is_resource = asked.target.starts_with("/.well-known/oauth-protected");
        match is_resource && now.load(std::sync::atomic::Ordering::SeqCst) {
            true => {
                let host = asked.header("host").expect("there is one");
                Reply::json(&json!({
                    "resource": format!("http://{host}/mcp"),
                    "authorization_servers": [next],
                }))
            }
            false => reply,
        }
    })
    .await;
    let state = Arc::new(MemoryState::default()) as Arc<dyn State>;
    let logins = Logins::new(state);
    logins
        .login(&site.server(), &Person::agreeing())
        .await
        .expect("it agrees");
    let registry = permissive().build();
    let upstreams = connect(&registry, site.server(), &logins);
    upstreams.settled().await;
    assert!(is_ready(&upstreams));

    moved.store(true, std::sync::atomic::Ordering::SeqCst);
    site.expire();
    let call = tool_core::Call::new("srv__echo", json!({}));
    let refused = registry
        .snapshot()
        .settle(call, &tool_core::Facts::new())
        .await;
    assert!(
        refused.text().contains("has to log in"),
        "{}",
        refused.text()
    );
    eventually("the server is locked", || !is_ready(&upstreams)).await;
    assert_eq!(site.forms().len(), 1, "nothing was renewed");
    assert!(successor.asked("/token").is_empty());
    // Who we were at the one is nobody at the other.
    let person = Person::agreeing();
    logins
        .login(&site.server(), &person)
        .await
        .expect("it agrees");
    assert_eq!(successor.asked("/register").len(), 1);
    assert_eq!(site.forms().len(), 1);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_gateway_is_no_authorization_server() {
    let token = BearerToken::new(INBOUND).expect("it is one");
    let options = HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0))).token(token);
    let server = Server::new(permissive().build());
    let served = server.serve_http(options).await.expect("it listens");
    let browser = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("it starts");
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/authorize",
        "/token",
        "/register",
    ] {
        for shown in [None, Some(INBOUND)] {
            let mut request = browser.get(format!("http://{}{path}", served.address()));
            if let Some(shown) = shown {
                request = request.bearer_auth(shown);
            }
            let answer = request.send().await.expect("it answers");
            assert_eq!(answer.status(), 404, "{path}");
        }
    }
    // Nobody is sent anywhere to log in.
    let url = format!("http://{}/mcp", served.address());
    let answer = browser.post(url).send().await.expect("it answers");
    assert_eq!(answer.status(), 401);
    let challenge = answer.headers().get("www-authenticate");
    let challenge = challenge.map(|value| value.to_str().expect("it is text").to_owned());
    assert!(!challenge.unwrap_or_default().contains("resource_metadata"));
    served.shutdown().await;
}
