//! Logins of servers that are connected and called.

use std::sync::Arc;

use serde_json::json;
use tool_core::Namespace;
use tool_mcp::{ServerConfig, UpstreamState};

use crate::support::eventually;
use crate::support::http_server::Reply;
use crate::support::login_gateway::{Clock, Gateway, log_in, state};
use crate::support::login_site::LoginSite;
use crate::support::person::{Person, value};

#[tokio::test]
async fn a_server_that_nobody_is_logged_in_to_waits_alone_and_says_how() {
    let (site, other) = (LoginSite::new().await, LoginSite::new().await);
    let clock = Clock::default();
    let logins = clock.logins(&state());
    let name = Namespace::new("open").expect("it is legal");
    let open = ServerConfig::http(name, other.http.url());
    logins
        .login(&open, &Person::agreeing())
        .await
        .expect("it agrees");
    let gateway = Gateway::start([site.server(), open], &logins).await;
    assert_eq!(gateway.reason(), "needs a login: `tool login srv`");
    let statuses = gateway.upstreams.statuses();
    assert!(matches!(
        statuses[0].state,
        UpstreamState::Ready { tools: 2, .. }
    ));

    // Somebody logs in, in another process.
    log_in(&logins, &site).await;
    gateway.becomes_ready().await;
    assert_eq!(gateway.call("echo").await.text(), "echo");
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_person_is_asked_where_there_is_one_who_may_take_as_long_as_it_takes() {
    let site = LoginSite::new().await;
    let person = Arc::new(Person::agreeing());
    let logins = Clock::default().logins(&state());
    let gateway = Gateway::start([site.server()], &logins.authorizer(person.clone())).await;
    gateway.becomes_ready().await;
    assert_eq!(gateway.call("echo").await.text(), "echo");
    assert_eq!(person.asked(), 1);
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_used_up_once() {
    let site = LoginSite::new().await;
    let (clock, state) = (Clock::default(), state());
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    assert_eq!(site.forms().len(), 1);
    clock.pass(3590);
    assert_eq!(gateway.call("echo").await.text(), "echo");
    assert_eq!(gateway.call("echo").await.text(), "echo");
    let forms = site.forms();
    assert_eq!(forms.len(), 2);
    assert_eq!(forms[1]["grant_type"], "refresh_token");
    assert_eq!(forms[1]["refresh_token"], "canary-refresh-1");
    assert_eq!(forms[1]["resource"], site.http.url());
    let asked = site.asked("/token").remove(1);
    let basic = asked.header("authorization").unwrap_or_default();
    assert!(
        basic.starts_with("Basic "),
        "the registered secret is shown"
    );
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn of_two_processes_that_find_a_token_refused_one_renews_it() {
    let site = LoginSite::new().await;
    let (clock, state) = (Clock::default(), state());
    log_in(&clock.logins(&state), &site).await;
    let one = Gateway::start([site.server()], &clock.logins(&state)).await;
    let other = Gateway::start([site.server()], &clock.logins(&state)).await;
    for round in 1..=3 {
        site.expire();
        let calls = tokio::join!(
            one.call("echo"),
            other.call("echo"),
            one.call("echo"),
            other.call("echo")
        );
        for call in [calls.0, calls.1, calls.2, calls.3] {
            assert_eq!(call.text(), "echo");
        }
        let renewed = site.forms().len() - 1;
        assert_eq!(renewed, round, "each refresh token is used once");
    }
    one.upstreams.shutdown().await;
    other.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_refresh_token_that_is_refused_is_not_tried_again() {
    let site =
        LoginSite::with(
            |asked, reply| match asked.text.contains("grant_type=refresh_token") {
                true => Reply {
                    status: 400,
                    ..Reply::json(&json!({"error": "invalid_grant"}))
                },
                false => reply,
            },
        )
        .await;
    let (clock, state) = (Clock::default(), state());
    let logins = clock.logins(&state);
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    site.expire();
    let reason = gateway.is_locked_by_a_call().await;
    assert_eq!(reason, "needs a login: `tool login srv`");
    assert_eq!(site.forms().len(), 2);
    let login = logins.status(&site.server()).await.expect("it is read");
    assert!(!login.expect("it is there").renews);
    // Its tools are called again once somebody is logged in.
    log_in(&logins, &site).await;
    gateway.becomes_ready().await;
    assert_eq!(gateway.call("echo").await.text(), "echo");
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_not_asked_for_ever() {
    let site = LoginSite::with(|asked, reply| match asked.target.as_str() {
        "/mcp" => Reply::empty(401),
        _ => reply,
    })
    .await;
    let person = Arc::new(Person::agreeing());
    let logins = Clock::default().logins(&state());
    let gateway = Gateway::start([site.server()], &logins.authorizer(person.clone())).await;
    eventually("it is given up", || {
        matches!(gateway.state(), UpstreamState::Locked { reason } if reason.contains("refuses"))
            && person.asked() == 3
    })
    .await;
    // Each attempt shows a token, a renewed one and another, and no more.
    let before = site.asked("/mcp").len();
    assert!(before <= 4 * 4 + 3, "it was asked {before} times");
    gateway.upstreams.shutdown().await;
    assert_eq!(person.asked(), 3);
}

#[tokio::test]
async fn a_tool_that_wants_more_rights_is_refused_alone_and_asked_for_at_the_next_login() {
    let site = LoginSite::new().await;
    let logins = Clock::default().logins(&state());
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    let refused = gateway.call("admin").await;
    assert!(refused.text().contains("more rights"), "{}", refused.text());
    assert!(matches!(gateway.state(), UpstreamState::Ready { .. }));
    assert_eq!(gateway.call("echo").await.text(), "echo");
    assert_eq!(site.forms().len(), 1, "a renewed token has no more rights");

    let person = Person::agreeing();
    logins
        .login(&site.server(), &person)
        .await
        .expect("it agrees");
    assert_eq!(value(&person.urls()[0], "scope"), "basic admin");
    // It is looked for once the one that is known is refused.
    assert_eq!(gateway.call("admin").await.text(), "admin");
    gateway.upstreams.shutdown().await;
}

#[tokio::test]
async fn a_person_is_asked_for_more_rights_in_the_middle_of_a_call() {
    let site = LoginSite::new().await;
    let person = Arc::new(Person::agreeing());
    let logins = Clock::default().logins(&state());
    let gateway = Gateway::start([site.server()], &logins.authorizer(person.clone())).await;
    gateway.becomes_ready().await;
    assert_eq!(gateway.call("admin").await.text(), "admin");
    let scopes: Vec<_> = person
        .urls()
        .iter()
        .map(|url| value(url, "scope"))
        .collect();
    assert_eq!(scopes, ["basic", "basic admin"]);
    gateway.upstreams.shutdown().await;
}
