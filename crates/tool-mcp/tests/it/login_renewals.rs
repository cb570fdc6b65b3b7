//! Tokens that end, and new ones in their place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::{Value, json};
use tool_core::{BoxFuture, Credential, State, StateError, StateReading, StateVersion};
use tool_mcp::{OAuthClient, UpstreamState};
use tool_registry::MemoryState;

use crate::support::eventually;
use crate::support::http_server::{Asked, Reply};
use crate::support::login_gateway::{Clock, Gateway, log_in, state};
use crate::support::login_site::LoginSite;
use crate::support::person::Person;

fn renews(asked: &Asked) -> bool {
    asked.target == "/token" && asked.text.contains("grant_type=refresh_token")
}

/// A site that answers whoever renews so.
async fn renewing_with(status: u16, error: &'static str) -> LoginSite {
    LoginSite::with(move |asked, reply| match renews(asked) {
        true => Reply {
            status,
            ..Reply::json(&json!({ "error": error }))
        },
        false => reply,
    })
    .await
}

/// A site that changes what it gives.
async fn giving(change: impl Fn(&mut Value) + Send + Sync + 'static) -> LoginSite {
    LoginSite::with(move |asked, reply| match asked.target == "/token" {
        true if reply.status == 200 => {
            let mut given = serde_json::from_str(&reply.body).expect("it is JSON");
            change(&mut given);
            Reply::json(&given)
        }
        _ => reply,
    })
    .await
}

/// Sites whose tokens cannot be renewed: none to renew with is given, or it is refused.
async fn sites_that_renew_nothing() -> [LoginSite; 2] {
    let without = giving(|given| given["refresh_token"] = json!(null)).await;
    [without, renewing_with(400, "invalid_grant").await]
}

/// A state that fails or is meddled with where a test says so.
#[derive(Default)]
struct Odd {
    inner: MemoryState,
    failing: AtomicUsize,
    takes_lease: AtomicBool,
    reads: AtomicUsize,
}

impl Odd {
    /// Waits until it was looked several times whether somebody is logged in.
    async fn is_looked_at(&self) {
        let before = self.reads.load(Ordering::SeqCst);
        eventually("a login is looked for", || {
            self.reads.load(Ordering::SeqCst) >= before + 3
        })
        .await;
    }
}

impl State for Odd {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        self.inner.claim(key, until)
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let read = self.inner.read(key, known).await?;
            let StateReading::Value(bytes, version) = read else {
                return Ok(read);
            };
            let mut record: Value = serde_json::from_slice(&bytes).expect("it is JSON");
            if !record["renewing"].is_null() && self.takes_lease.swap(false, Ordering::SeqCst) {
                record["renewing"] = json!({"by": "another", "until": 0});
            }
            Ok(StateReading::Value(record.to_string().into(), version))
        })
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        let fewer = |left: usize| left.checked_sub(1);
        let failing = self
            .failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
        if failing.is_ok() {
            return Box::pin(async { Err(StateError::new("no space is left")) });
        }
        self.inner.write(key, expected, value)
    }
}

#[tokio::test]
async fn a_token_that_ended_and_cannot_be_renewed_is_a_matter_for_a_person() {
    for site in sites_that_renew_nothing().await {
        let (clock, state) = (Clock::default(), state());
        let person = Arc::new(Person::agreeing());
        let logins = clock.logins(&state);
        log_in(&logins, &site).await;
        let gateway = Gateway::start([site.server()], &logins.authorizer(person.clone())).await;
        gateway.becomes_ready().await;
        site.expire();
        clock.pass(3601);
        assert_eq!(gateway.call("echo").await.text(), "echo");
        assert_eq!(person.asked(), 1);
        gateway.upstreams.shutdown().await;
    }
}

#[tokio::test]
async fn a_token_that_ended_and_cannot_be_renewed_is_waited_for_and_asked_about_no_more() {
    for site in sites_that_renew_nothing().await {
        let (clock, state) = (Clock::default(), Arc::new(Odd::default()));
        let logins = clock.logins(&state);
        log_in(&logins, &site).await;
        let gateway = Gateway::start([site.server()], &logins).await;
        gateway.becomes_ready().await;
        site.expire();
        clock.pass(3601);
        let reason = gateway.is_locked_by_a_call().await;
        assert_eq!(reason, "needs a login: `tool login srv`");
        let before = site.asked("/mcp").len();
        state.is_looked_at().await;
        assert_eq!(site.asked("/mcp").len(), before);
        // A login anywhere ends the wait.
        log_in(&logins, &site).await;
        gateway.becomes_ready().await;
        assert_eq!(gateway.call("echo").await.text(), "echo");
        gateway.upstreams.shutdown().await;
    }
}

/// A site whose metadata leads on to another server once it is told to.
async fn site_that_may_turn_evil() -> (LoginSite, Arc<AtomicBool>) {
    let evil = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&evil);
    let site = LoginSite::with(move |asked, reply| {
        let is_metadata = asked.target == "/.well-known/oauth-authorization-server";
        match is_metadata && now.load(Ordering::SeqCst) {
            true => Reply::empty(302).with("location", "https://evil.example.com/x"),
            false => reply,
        }
    })
    .await;
    (site, evil)
}

#[tokio::test]
async fn a_renewal_that_is_found_unsafe_locks_the_server_and_is_not_tried_over_and_over() {
    let (site, evil) = site_that_may_turn_evil().await;
    let (clock, state) = (Clock::default(), Arc::new(Odd::default()));
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    evil.store(true, Ordering::SeqCst);
    site.expire();
    clock.pass(3601);
    let reason = gateway.is_locked_by_a_call().await;
    assert!(reason.contains("leads on to another server"), "{reason}");
    let before = site.http.asked().len();
    state.is_looked_at().await;
    assert_eq!(site.http.asked().len(), before);
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_token_that_ended_by_the_clock_alone_is_waited_for_and_not_tried_over_and_over() {
    let (site, evil) = site_that_may_turn_evil().await;
    let (clock, state) = (Clock::default(), Arc::new(Odd::default()));
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    // The server would take it still, and never refuses it.
    evil.store(true, Ordering::SeqCst);
    clock.pass(3601);
    gateway.is_locked_by_a_call().await;
    let before = site.http.asked().len();
    state.is_looked_at().await;
    assert_eq!(site.http.asked().len(), before);
    // Another one ends the wait.
    evil.store(false, Ordering::SeqCst);
    log_in(&logins, &site).await;
    gateway.becomes_ready().await;
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn new_tokens_are_kept_also_where_the_lease_was_lost_meanwhile() {
    let state = Arc::new(Odd::default());
    let meddled = Arc::clone(&state);
    let site = LoginSite::with(move |asked, reply| {
        if renews(asked) {
            meddled.takes_lease.store(true, Ordering::SeqCst);
        }
        reply
    })
    .await;
    let clock = Clock::default();
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    site.expire();
    assert_eq!(gateway.call("echo").await.text(), "echo");
    assert!(!state.takes_lease.load(Ordering::SeqCst), "it was lost");
    assert_eq!(site.forms().len(), 2, "a refresh token is used once");
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn new_tokens_are_kept_once_the_state_works_again() {
    let state = Arc::new(Odd::default());
    let broken = Arc::clone(&state);
    let site = LoginSite::with(move |asked, reply| {
        if renews(asked) {
            broken.failing.store(2, Ordering::SeqCst);
        }
        reply
    })
    .await;
    let clock = Clock::default();
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    site.expire();
    assert_eq!(gateway.call("echo").await.text(), "echo");
    assert_eq!(state.failing.load(Ordering::SeqCst), 0, "it failed");
    assert_eq!(site.forms().len(), 2, "a refresh token is used once");
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_secret_that_is_configured_anew_renews_what_was_made_with_the_old_one() {
    let site = LoginSite::new().await;
    let (clock, state) = (Clock::default(), state());
    let logins = clock.logins(&state);
    let with = |secret: &str| {
        let client = OAuthClient::default().id("by-hand");
        site.server()
            .oauth(client.secret(Credential::new(secret.to_owned())))
    };
    let login = logins.login(&with("canary-one"), &Person::agreeing()).await;
    login.expect("it agrees");
    let gateway = Gateway::start([with("canary-two")], &logins).await;
    gateway.becomes_ready().await;
    clock.pass(3590);
    assert_eq!(gateway.call("echo").await.text(), "echo");
    let renewal = site.asked("/token").remove(1);
    // It is "by-hand:canary-two".
    let shown = renewal.header("authorization");
    assert_eq!(shown, Some("Basic YnktaGFuZDpjYW5hcnktdHdv"));
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_secret_that_is_refused_costs_no_refresh_token() {
    let site = renewing_with(401, "invalid_client").await;
    let (clock, state) = (Clock::default(), state());
    let logins = clock.logins(&state);
    let client = OAuthClient::default().id("by-hand");
    let server = site
        .server()
        .oauth(client.secret(Credential::new("canary-old")));
    let login = logins.login(&server, &Person::agreeing()).await;
    login.expect("it agrees");
    let gateway = Gateway::start([server.clone()], &logins).await;
    gateway.becomes_ready().await;
    clock.pass(3590);
    assert_eq!(gateway.call("echo").await.text(), "echo");
    assert_eq!(site.forms().len(), 2);
    let login = logins.status(&server).await.expect("it is read");
    assert!(login.expect("there is one").renews);
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn while_a_token_is_good_a_renewal_that_failed_is_not_tried_for_every_call() {
    let site = renewing_with(503, "temporarily_unavailable").await;
    let (clock, state) = (Clock::default(), state());
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    clock.pass(3590);
    for _ in 0..5 {
        assert_eq!(gateway.call("echo").await.text(), "echo");
    }
    assert_eq!(site.forms().len(), 2);
    // Once it is not, there is nothing else to do.
    clock.pass(11);
    gateway.call("echo").await;
    assert!(site.forms().len() > 2);
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_token_of_a_short_life_is_used_for_half_of_it() {
    let site = giving(|given| given["expires_in"] = json!(20)).await;
    let (clock, state) = (Clock::default(), state());
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    for (pass, forms) in [(0, 1), (9, 1), (1, 2), (9, 2), (1, 3)] {
        clock.pass(pass);
        assert_eq!(gateway.call("echo").await.text(), "echo");
        assert_eq!(site.forms().len(), forms);
    }
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_stream_that_is_refused_is_asked_for_with_a_renewed_token_and_nobody_is_asked() {
    let gets = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&gets);
    let site = LoginSite::with(move |asked, reply| {
        if asked.target != "/mcp" || reply.status == 401 {
            return reply;
        }
        match (asked.verb.as_str(), asked.method()) {
            // The first time the token is not good for it any more.
            ("GET", _) if count.fetch_add(1, Ordering::SeqCst) == 0 => Reply::empty(401),
            ("GET", _) => Reply::events(String::new(), true),
            (_, "initialize") => asked.result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "old", "version": "1"},
            })),
            (_, "server/discover") => Reply::empty(400),
            (_, "notifications/initialized") => Reply::empty(202),
            _ => reply,
        }
    })
    .await;
    let person = Arc::new(Person::agreeing());
    let logins = Clock::default().logins(&state());
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins.authorizer(person.clone())).await;
    gateway.becomes_ready().await;
    eventually("the stream is there", || gets.load(Ordering::SeqCst) == 2).await;
    let mut streams = site.asked("/mcp");
    streams
        .retain(|asked| asked.verb == "GET" && asked.header("accept") == Some("text/event-stream"));
    let shown: Vec<_> = streams
        .iter()
        .map(|asked| asked.header("authorization").unwrap_or_default())
        .collect();
    assert_eq!(shown, ["Bearer canary-access-1", "Bearer canary-access-2"]);
    assert_eq!((person.asked(), site.forms().len()), (0, 2));
    assert!(matches!(gateway.state(), UpstreamState::Ready { .. }));
    gateway.upstreams.shutdown().await;
}
