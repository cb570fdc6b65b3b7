//! Logins that are ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use tool_core::{Credential, Namespace, State, StateReading};
use tool_mcp::{LoggedOut, Logins, OAuthClient, Revocation, ServerConfig};
use tool_registry::MemoryState;

use crate::support::eventually;
use crate::support::http_server::{Asked, Reply};
use crate::support::login_gateway::{Clock, Gateway, log_in};
use crate::support::login_site::{LoginSite, form};
use crate::support::person::Person;

const METADATA: &str = "/.well-known/oauth-authorization-server";
const REVOKE: &str = "/revoke";

/// A site that revokes tokens, with this answer to whoever asks it to.
async fn revoking(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> LoginSite {
    saying(|_| {}, answer).await
}

async fn saying(
    change: impl Fn(&mut Value) + Send + Sync + 'static,
    answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> LoginSite {
    LoginSite::with(move |asked, reply| match asked.target.as_str() {
        METADATA => {
            let mut metadata: Value = serde_json::from_str(&reply.body).expect("it is JSON");
            let base = metadata["issuer"].as_str().expect("it is text").to_owned();
            metadata["revocation_endpoint"] = json!(format!("{base}{REVOKE}"));
            change(&mut metadata);
            Reply::json(&metadata)
        }
        REVOKE => answer(asked),
        _ => reply,
    })
    .await
}

fn logins() -> Logins {
    Logins::new(Arc::new(MemoryState::default()) as Arc<dyn State>)
}

fn name() -> Namespace {
    Namespace::new("srv").expect("it is legal")
}

async fn log_out(logins: &Logins, config: Option<&ServerConfig>) -> LoggedOut {
    let out = logins.logout(&name(), config).await.expect("it is written");
    let again = logins.logout(&name(), config).await.expect("it is read");
    assert_eq!(again, None, "nothing is left, whatever was answered");
    out.expect("there was one")
}

fn refusing(status: u16, error: &str) -> Reply {
    Reply {
        status,
        ..Reply::json(&json!({"error": error, "error_description": "canary-said"}))
    }
}

#[tokio::test]
async fn a_login_is_forgotten_with_who_was_registered() {
    let site = LoginSite::new().await;
    let logins = logins();
    let server = site.server();
    assert_eq!(
        logins
            .logout(server.name(), None)
            .await
            .expect("it is read"),
        None
    );
    log_in(&logins, &site).await;
    let out = log_out(&logins, Some(&server)).await;
    assert_eq!(out.issuer, Some(site.issuer()));
    // It says nowhere how.
    assert_eq!(out.revocation, Revocation::NotOffered);
    assert_eq!(logins.status(&server).await.expect("it is read"), None);
    log_in(&logins, &site).await;
    assert_eq!(site.asked("/register").len(), 2);
}

#[tokio::test]
async fn tokens_are_revoked_by_whom_they_were_given_to_first_of_all_what_renews_them() {
    let site = revoking(|_| Reply::empty(200)).await;
    let logins = logins();
    log_in(&logins, &site).await;
    let out = log_out(&logins, None).await;
    assert_eq!(out.revocation, Revocation::Done);
    let asked = site.asked(REVOKE);
    let forms: Vec<_> = asked.iter().map(form).collect();
    assert_eq!(forms.len(), 2);
    for (form, (token, hint)) in forms.iter().zip([
        ("canary-refresh-1", "refresh_token"),
        ("canary-access-1", "access_token"),
    ]) {
        assert_eq!(form["token"], token);
        assert_eq!(form["token_type_hint"], hint);
        assert_eq!(form.len(), 2, "{form:?}");
    }
    // It is "registered:canary-client-secret".
    let shown = asked[0].header("authorization");
    assert_eq!(
        shown,
        Some("Basic cmVnaXN0ZXJlZDpjYW5hcnktY2xpZW50LXNlY3JldA==")
    );
}

/// A site that takes a client's secret in the form of a request and nowhere else.
async fn reading_secrets_in_forms() -> LoginSite {
    saying(
        |metadata| {
            let methods = json!(["client_secret_post"]);
            metadata["revocation_endpoint_auth_methods_supported"] = methods;
        },
        |_| Reply::empty(200),
    )
    .await
}

#[tokio::test]
async fn the_secret_of_a_configured_id_is_what_it_is_now_and_goes_where_it_is_taken() {
    let site = reading_secrets_in_forms().await;
    let logins = logins();
    let with = |secret: &str| {
        let client = OAuthClient::default().id("by hand");
        let secret = Credential::new(secret.to_owned());
        site.server().oauth(client.secret(secret))
    };
    let login = logins.login(&with("canary-one"), &Person::agreeing()).await;
    login.expect("it agrees");
    let out = log_out(&logins, Some(&with("canary+two"))).await;
    assert_eq!(out.revocation, Revocation::Done);
    let asked = site.asked(REVOKE).remove(0);
    assert_eq!(asked.header("authorization"), None);
    let form = form(&asked);
    assert_eq!(
        (&*form["client_id"], &*form["client_secret"]),
        ("by hand", "canary+two")
    );

    // Without it nothing is sent, and it is said.
    let missing = OAuthClient::default()
        .id("by hand")
        .secret_env("NOT_SET_ANYWHERE");
    let login = logins.login(&with("canary-one"), &Person::agreeing()).await;
    login.expect("it agrees");
    let out = log_out(&logins, Some(&site.server().oauth(missing))).await;
    let reason = "it needs a secret in the variable \"NOT_SET_ANYWHERE\"".to_owned();
    assert_eq!(out.revocation, Revocation::Failed { reason });
    assert_eq!(site.asked(REVOKE).len(), 2);
}

#[tokio::test]
async fn what_is_not_revoked_is_forgotten_all_the_same_and_said_to_be_so() {
    type Answer = fn(&Asked) -> Reply;
    let cases: [(Answer, Option<&str>); 5] = [
        (
            |_| refusing(400, "invalid_client"),
            Some("answered with status 400 and the error \"invalid_client\""),
        ),
        (|_| Reply::empty(503), Some("answered with status 503")),
        (
            |asked| match asked.text.contains("refresh_token") {
                true => Reply::empty(200),
                false => Reply::empty(500),
            },
            Some("what renews the login was revoked, and its token was not: "),
        ),
        (
            |asked| match asked.text.contains("refresh_token") {
                true => Reply::empty(500),
                false => Reply::empty(200),
            },
            Some("the token was revoked, and what renews it was not: "),
        ),
        // It ends with what it was renewed by.
        (
            |asked| match asked.text.contains("refresh_token") {
                true => Reply::empty(200),
                false => refusing(400, "unsupported_token_type"),
            },
            None,
        ),
    ];
    for (answer, expected) in cases {
        let site = revoking(answer).await;
        let logins = logins();
        log_in(&logins, &site).await;
        let out = log_out(&logins, None).await;
        match (out.revocation, expected) {
            (Revocation::Done, None) => {}
            (Revocation::Failed { reason }, Some(expected)) => {
                assert!(reason.contains(expected), "{reason}");
                assert!(!reason.contains("canary"), "{reason}");
            }
            (other, expected) => panic!("{other:?} for {expected:?}"),
        }
        assert_eq!(site.asked(REVOKE).len(), 2);
    }
}

#[tokio::test]
async fn nobody_waits_longer_than_the_limit_for_a_revocation() {
    let site = revoking(|_| Reply::events(String::new(), true)).await;
    let logins = logins();
    log_in(&logins, &site).await;
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let out = log_out(&logins, None).await;
    assert_eq!(begun.elapsed().as_secs(), 10);
    let reason = "the authorization server did not answer within 10 s".to_owned();
    assert_eq!(out.revocation, Revocation::Failed { reason });
}

#[tokio::test]
async fn tokens_are_sent_to_no_address_that_is_not_safe() {
    let elsewhere = |metadata: &mut Value| {
        metadata["revocation_endpoint"] = json!("http://10.0.0.1/revoke");
    };
    let site = saying(elsewhere, |_| Reply::empty(200)).await;
    let logins = logins();
    log_in(&logins, &site).await;
    assert_eq!(
        log_out(&logins, None).await.revocation,
        Revocation::NotOffered
    );

    // Nor where it leads on to another one.
    let site = revoking(|_| Reply::empty(307).with("location", "https://evil.example.com/x")).await;
    log_in(&logins, &site).await;
    match log_out(&logins, None).await.revocation {
        Revocation::Failed { reason } => {
            assert!(reason.contains("leads on to another server"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_renewed_login_is_revoked_by_its_newest_tokens_and_an_unreadable_one_is_forgotten() {
    let state = Arc::new(MemoryState::default());
    let logins = Logins::new(Arc::clone(&state) as Arc<dyn State>);
    let site = revoking(|_| Reply::empty(200)).await;
    log_in(&logins, &site).await;
    log_in(&logins, &site).await;
    assert_eq!(log_out(&logins, None).await.revocation, Revocation::Done);
    assert_eq!(form(&site.asked(REVOKE)[0])["token"], "canary-refresh-2");

    let key = "mcp/login/srv";
    let StateReading::Value(_, version) = state.read(key, None).await.expect("it is read") else {
        panic!("there is something");
    };
    let written = state.write(key, Some(&version), b"{}").await;
    assert!(written.expect("it is written").is_some());
    let out = log_out(&logins, None).await;
    assert_eq!(out.issuer, None);
    assert!(matches!(out.revocation, Revocation::Failed { .. }));
}

#[tokio::test]
async fn who_was_registered_and_never_logged_in_is_forgotten_and_has_nothing_to_revoke() {
    let refused = Arc::new(AtomicBool::new(false));
    let site = revoking(|_| Reply::empty(200)).await;
    let logins = logins();
    let seen = Arc::clone(&refused);
    let person = Person::answering(move |_| {
        seen.store(true, Ordering::SeqCst);
        Err("nobody is there".to_owned())
    });
    logins
        .login(&site.server(), &person)
        .await
        .expect_err("nobody is there");
    assert!(refused.load(Ordering::SeqCst));
    let out = log_out(&logins, None).await;
    assert_eq!(
        (out.issuer, out.revocation),
        (Some(site.issuer()), Revocation::Nothing)
    );
    assert_eq!(site.asked(REVOKE).len(), 0);
}

#[tokio::test]
async fn a_secret_goes_to_nobody_but_whom_it_was_configured_for() {
    let elsewhere = LoginSite::new().await;
    let site = reading_secrets_in_forms().await;
    // The site registered us by the id that somebody has elsewhere.
    let client = || {
        let client = OAuthClient::default().id("registered");
        client.secret(Credential::new("configured-canary".to_owned()))
    };
    for config in [
        // It is of another address by now.
        elsewhere.server().oauth(client()),
        // It is of another issuer than was logged in to.
        site.server().oauth(client().issuer(elsewhere.issuer())),
    ] {
        let logins = logins();
        log_in(&logins, &site).await;
        let out = log_out(&logins, Some(&config)).await;
        assert_eq!(out.revocation, Revocation::Done);
    }
    assert_eq!(site.asked(REVOKE).len(), 4);
    for asked in site.http.asked() {
        assert!(!format!("{asked:?}").contains("configured-canary"));
    }
    assert_eq!(elsewhere.http.asked().len(), 0);
    // It is sent where it belongs.
    let logins = logins();
    log_in(&logins, &site).await;
    log_out(&logins, Some(&site.server().oauth(client()))).await;
    let last = site.asked(REVOKE).pop().expect("it is asked");
    assert_eq!(form(&last)["client_secret"], "configured-canary");
}

/// What happens while a login is renewed.
type Meanwhile = Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>;

async fn renewing(meanwhile: &Meanwhile) -> LoginSite {
    let meanwhile = Arc::clone(meanwhile);
    LoginSite::with(move |asked, reply| {
        let renews = asked.text.contains("grant_type=refresh_token");
        match asked.target.as_str() {
            METADATA => {
                let mut metadata: Value = serde_json::from_str(&reply.body).expect("it is JSON");
                let base = metadata["issuer"].as_str().expect("it is text").to_owned();
                metadata["revocation_endpoint"] = json!(format!("{base}{REVOKE}"));
                Reply::json(&metadata)
            }
            REVOKE => Reply::empty(200),
            "/token" if renews => {
                meanwhile.get().expect("somebody is logged in")();
                reply
            }
            _ => reply,
        }
    })
    .await
}

/// Waits for something in the middle of an answer.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work))
}

fn revoked(site: &LoginSite) -> Vec<String> {
    let mut forms: Vec<_> = site.asked(REVOKE).iter().map(form).collect();
    let tokens = forms.iter_mut().map(|form| form.remove("token"));
    tokens.map(|token| token.expect("it has one")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_renewal_brings_is_revoked_where_the_login_was_ended_meanwhile() {
    let (meanwhile, clock) = (Meanwhile::default(), Clock::default());
    let site = renewing(&meanwhile).await;
    let logins = clock.logins(&Arc::new(MemoryState::default()));
    log_in(&logins, &site).await;
    let gateway = Gateway::start([site.server()], &logins).await;
    gateway.becomes_ready().await;
    let said = Arc::new(Mutex::new(None));
    let out = Arc::clone(&said);
    let ends = move || {
        let ended = wait(logins.logout(&name(), None));
        *out.lock().expect("no panic") = ended.expect("it is written");
    };
    assert!(meanwhile.set(Box::new(ends)).is_ok());
    site.expire();
    clock.pass(3601);
    gateway.is_locked_by_a_call().await;
    eventually("all tokens are revoked", || site.asked(REVOKE).len() == 4).await;
    let expected = [
        "canary-refresh-1",
        "canary-access-1",
        "canary-refresh-2",
        "canary-access-2",
    ];
    assert_eq!(revoked(&site), expected);
    // Whoever ended it could not know that.
    let said = said.lock().expect("no panic").take().expect("it was ended");
    match said.revocation {
        Revocation::Failed { reason } => {
            assert!(reason.starts_with("it was being renewed"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_renewal_brings_is_revoked_where_another_login_was_made_meanwhile_and_only_that() {
    for logs_out in [true, false] {
        let (meanwhile, clock) = (Meanwhile::default(), Clock::default());
        let site = renewing(&meanwhile).await;
        let logins = clock.logins(&Arc::new(MemoryState::default()));
        log_in(&logins, &site).await;
        let gateway = Gateway::start([site.server()], &logins).await;
        gateway.becomes_ready().await;
        let (server, kept) = (site.server(), logins.clone());
        let again = move || {
            if logs_out {
                wait(logins.logout(&name(), None)).expect("it is written");
            }
            wait(logins.login(&server, &Person::agreeing())).expect("it agrees");
        };
        assert!(meanwhile.set(Box::new(again)).is_ok());
        site.expire();
        clock.pass(3601);
        assert_eq!(gateway.call("echo").await.text(), "echo");
        let mut expected = vec!["canary-refresh-2", "canary-access-2"];
        if logs_out {
            expected.splice(0..0, ["canary-refresh-1", "canary-access-1"]);
        }
        eventually("nobody's tokens are revoked", || {
            site.asked(REVOKE).len() == expected.len()
        })
        .await;
        assert_eq!(revoked(&site), expected);
        // The other login is the one that is kept.
        gateway.upstreams.shutdown().await;
        log_out(&kept, None).await;
        expected.extend(["canary-refresh-3", "canary-access-3"]);
        assert_eq!(revoked(&site), expected);
    }
}

/// Writes another grant in the place of one that is being renewed, once.
fn overtakes(state: &Arc<MemoryState>, change: fn(&mut Value)) -> Box<dyn Fn() + Send + Sync> {
    let (state, once) = (Arc::clone(state), AtomicBool::new(true));
    Box::new(move || {
        if !once.swap(false, Ordering::SeqCst) {
            return;
        }
        let read = wait(state.read("mcp/login/srv", None)).expect("it is read");
        let StateReading::Value(bytes, version) = read else {
            panic!("there is something");
        };
        let mut record: Value = serde_json::from_slice(&bytes).expect("it is JSON");
        record["renewing"] = Value::Null;
        let grant = &mut record["grant"];
        grant["access"] = json!("canary-other-access");
        grant["refresh"] = json!("canary-other-refresh");
        grant["expires"] = json!(9_000_000);
        grant["due"] = json!(9_000_000);
        change(grant);
        let renewed = record.to_string();
        let written = state.write("mcp/login/srv", Some(&version), renewed.as_bytes());
        assert!(wait(written).expect("it is written").is_some());
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_renewal_brings_is_not_revoked_where_it_may_be_what_somebody_has() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change, &str); 3] = [
        (
            "somebody else has renewed the same login",
            |_| {},
            "canary-other-refresh",
        ),
        (
            "an earlier version has, which keeps no name of it",
            |grant| grant["login"] = Value::Null,
            "canary-other-refresh",
        ),
        (
            "another login has the same tokens",
            |grant| {
                grant["login"] = json!("other");
                grant["refresh"] = json!("canary-refresh-2");
            },
            "canary-refresh-2",
        ),
    ];
    for (said, change, refresh) in cases {
        let (meanwhile, clock) = (Meanwhile::default(), Clock::default());
        let site = renewing(&meanwhile).await;
        let state = Arc::new(MemoryState::default());
        let logins = clock.logins(&state);
        log_in(&logins, &site).await;
        let gateway = Gateway::start([site.server()], &logins).await;
        gateway.becomes_ready().await;
        assert!(meanwhile.set(overtakes(&state, change)).is_ok());
        site.expire();
        clock.pass(3601);
        // What somebody else has is used, and renewed where the site takes none of it.
        gateway.call("echo").await;
        assert_eq!(site.forms()[2]["refresh_token"], refresh, "{said}");
        assert_eq!(revoked(&site), Vec::<String>::new(), "{said}");
    }
}
