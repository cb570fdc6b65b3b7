//! Logins that are refused, as going on would not be safe. Nothing that is secret is sent then.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_mcp::{LoginError, Logins, OAuthClient};
use tool_registry::MemoryState;

use crate::support::http_server::Reply;
use crate::support::login_site::LoginSite;
use crate::support::person::{Person, value};

fn logins() -> Logins {
    Logins::new(Arc::new(MemoryState::default()))
}

/// Why logging in to a site is not safe. It is found out before any code or token is sent.
async fn not_safe(site: &LoginSite, person: &Person) -> String {
    let refused = logins().login(&site.server(), person).await;
    assert!(site.asked("/token").is_empty(), "something secret was sent");
    match refused.expect_err("it is refused") {
        LoginError::Unsafe { server, reason } => {
            assert_eq!(server, "srv");
            reason
        }
        other => panic!("it is told otherwise: {other}"),
    }
}

fn with(key: &'static str, value: Value) -> impl Fn(&mut Value) + Send + Sync {
    move |metadata| metadata[key] = value.clone()
}

#[tokio::test]
async fn an_authorization_server_without_pkce_is_refused() {
    for methods in [json!(null), json!([]), json!(["plain"])] {
        let site = LoginSite::saying(with("code_challenge_methods_supported", methods)).await;
        let person = Person::agreeing();
        let reason = not_safe(&site, &person).await;
        assert_eq!(
            reason,
            "the authorization server does not promise PKCE with S256"
        );
        assert_eq!(person.asked(), 0);
    }
}

#[tokio::test]
async fn an_address_that_is_not_encrypted_is_refused() {
    for key in [
        "authorization_endpoint",
        "token_endpoint",
        "registration_endpoint",
    ] {
        let site = LoginSite::saying(with(key, json!("http://as.example.com/x"))).await;
        let person = Person::agreeing();
        let reason = not_safe(&site, &person).await;
        assert_eq!(
            reason,
            "the address \"http://as.example.com/x\" is not encrypted"
        );
        assert_eq!(person.asked(), 0, "{key}");
    }
    let site = LoginSite::saying(with("authorization_endpoint", json!("file:///etc/x"))).await;
    let reason = not_safe(&site, &Person::agreeing()).await;
    assert!(reason.contains("names no host"), "{reason}");
}

#[tokio::test]
async fn an_address_in_a_network_of_others_is_refused() {
    for address in [
        "https://10.0.0.9/token",
        "https://[fd00::1]/token",
        "https://169.254.169.254/token",
        "https://[::ffff:192.168.0.1]/token",
    ] {
        let site = LoginSite::saying(with("token_endpoint", json!(address))).await;
        let reason = not_safe(&site, &Person::agreeing()).await;
        assert!(reason.contains("nobody else's business"), "{reason}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    for to in ["http://169.254.169.254/latest", "https://as.example.com/x"] {
        let site = LoginSite::with(move |asked, reply| {
            match asked.target.starts_with("/.well-known/oauth-authorization") {
                true => Reply::empty(302).with("location", to),
                false => reply,
            }
        })
        .await;
        let reason = not_safe(&site, &Person::agreeing()).await;
        assert!(reason.contains("leads on to another server"), "{reason}");
    }
}

#[tokio::test]
async fn a_code_that_would_be_led_to_another_server_is_not_sent_there() {
    let site = LoginSite::with(|asked, reply| match asked.target.as_str() {
        "/token" => Reply::empty(302).with("location", "https://evil.example.com/token"),
        _ => reply,
    })
    .await;
    let refused = logins().login(&site.server(), &Person::agreeing()).await;
    let refused = refused.expect_err("it leads elsewhere");
    assert!(matches!(refused, LoginError::Unsafe { .. }), "{refused}");
    let reason = refused.to_string();
    assert!(reason.contains("leads on to another server"), "{reason}");
}

#[tokio::test]
async fn a_person_is_shown_no_scope_that_is_none() {
    let site = LoginSite::with(|asked, reply| {
        let host = asked.header("host").expect("there is one");
        let mut scopes: Vec<_> = (0..150).map(|at| format!("s{at}")).collect();
        scopes.insert(0, "a\nlog in at https://evil.example.com".to_owned());
        scopes.insert(1, "\u{202e}txt".to_owned());
        scopes.insert(2, "\u{1b}[2J".to_owned());
        match asked.target.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => Reply::json(&json!({
                "resource": format!("http://{host}/mcp"),
                "authorization_servers": [format!("http://{host}")],
                "scopes_supported": scopes,
            })),
            "/mcp" => Reply::empty(401),
            _ => reply,
        }
    })
    .await;
    let person = Person::agreeing();
    let login = logins().login(&site.server(), &person).await;
    login.expect("what is a scope is asked for");
    let shown = person.pages().remove(0).scopes;
    let good: Vec<_> = (0..100).map(|at| format!("s{at}")).collect();
    assert_eq!(shown, good);
    assert_eq!(value(&person.urls()[0], "scope"), shown.join(" "));
}

#[tokio::test]
async fn an_authorization_server_that_calls_itself_another_is_refused() {
    for issuer in ["https://evil.example.com", "http://localhost:1/x"] {
        let site = LoginSite::saying(with("issuer", json!(issuer))).await;
        let person = Person::agreeing();
        let reason = not_safe(&site, &person).await;
        assert!(
            reason.contains(&format!("calls itself \"{issuer}\"")),
            "{reason}"
        );
        assert_eq!(person.asked(), 0);
    }
    let site = LoginSite::saying(|metadata| {
        metadata
            .as_object_mut()
            .expect("it is one")
            .remove("issuer");
    })
    .await;
    let reason = not_safe(&site, &Person::agreeing()).await;
    assert!(reason.contains("does not say who it is"), "{reason}");
}

#[tokio::test]
async fn an_authorization_server_that_is_not_the_configured_one_is_refused() {
    let site = LoginSite::new().await;
    let client = OAuthClient::default().issuer("https://login.example.com");
    let person = Person::agreeing();
    let refused = logins().login(&site.server().oauth(client), &person).await;
    let refused = refused.expect_err("it is another").to_string();
    assert!(refused.contains("\"https://login.example.com\" is configured"));
    assert_eq!((person.asked(), site.asked("/register").len()), (0, 0));
}

#[tokio::test]
async fn metadata_at_an_address_of_no_issuer_is_refused() {
    // What it says of itself is right; only where it says so is not its own.
    for (at, leads_on) in [
        ("/.well-known/x", false),
        ("/x/.well-known/x", false),
        ("/.well-known/x", true),
    ] {
        let site = LoginSite::with(move |asked, reply| {
            let host = asked.header("host").expect("there is one");
            let metadata = |issuer: &str| {
                Reply::json(&json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("http://{host}/token"),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                }))
            };
            match asked.target.as_str() {
                "/.well-known/oauth-protected-resource/mcp" => Reply::json(&json!({
                    "resource": format!("http://{host}/mcp"),
                    "authorization_servers": [format!("http://{host}{at}")],
                })),
                target if target == at && leads_on => {
                    Reply::empty(302).with("location", "/.well-known/oauth-authorization-server")
                }
                target if target == at => metadata("https://login.example.com"),
                _ => reply,
            }
        })
        .await;
        let person = Person::agreeing();
        let client = OAuthClient::default().id("by-hand");
        let refused = logins().login(&site.server().oauth(client), &person).await;
        let refused = refused.expect_err("nobody speaks for another");
        assert!(matches!(refused, LoginError::Unsafe { .. }), "{refused}");
        let reason = refused.to_string();
        assert!(reason.contains("of another address"), "{reason}");
        assert!(reason.contains(at), "{reason}");
        assert_eq!((person.asked(), site.forms().len()), (0, 0));
    }
}

#[tokio::test]
async fn metadata_of_another_server_is_refused() {
    let site = LoginSite::with(|asked, reply| {
        match asked.target.starts_with("/.well-known/oauth-protected") {
            true => Reply::json(&json!({
                "resource": "https://evil.example.com/mcp",
                "authorization_servers": ["https://evil.example.com"],
            })),
            false => reply,
        }
    })
    .await;
    let reason = not_safe(&site, &Person::agreeing()).await;
    assert!(
        reason.contains("is of another server than this one"),
        "{reason}"
    );
}

#[tokio::test]
async fn an_answer_with_another_state_is_refused() {
    for state in ["", "other"] {
        let site = LoginSite::new().await;
        let person = Person::answering(move |_| Ok(format!("code=canary-code&state={state}")));
        let reason = not_safe(&site, &person).await;
        assert_eq!(reason, "what came back does not belong to this login");
    }
    // One that was right for another login is not for this one.
    let site = LoginSite::new().await;
    let first = Person::agreeing();
    logins()
        .login(&site.server(), &first)
        .await
        .expect("it agrees");
    let old = value(&first.urls()[0], "state");
    let site = LoginSite::new().await;
    let person = Person::answering(move |_| Ok(format!("code=canary-code&state={old}")));
    let reason = not_safe(&site, &person).await;
    assert_eq!(reason, "what came back does not belong to this login");
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_refused() {
    for issuer in ["https://evil.example.com", "http://127.0.0.1/"] {
        let site = LoginSite::new().await;
        let person = Person::answering(move |url| {
            let state = value(url, "state");
            Ok(format!("code=canary-code&state={state}&iss={issuer}"))
        });
        let reason = not_safe(&site, &person).await;
        assert!(reason.contains("another authorization server"), "{reason}");
    }
}

#[tokio::test]
async fn an_answer_without_the_issuer_that_was_promised_is_refused() {
    let promised = "authorization_response_iss_parameter_supported";
    let site = LoginSite::saying(with(promised, json!(true))).await;
    let reason = not_safe(&site, &Person::agreeing()).await;
    assert!(reason.contains("does not say who it is"), "{reason}");
}

#[tokio::test]
async fn people_come_back_over_no_connection_that_others_can_read() {
    for redirect_uri in ["http://app.example.com/x", "javascript:alert(1)", "x"] {
        let site = LoginSite::new().await;
        let person = Person::agreeing().coming_back_at(redirect_uri);
        let reason = not_safe(&site, &person).await;
        assert!(reason.contains("others can read"), "{reason}");
        assert!(site.asked("/register").is_empty());
    }
}

#[tokio::test]
async fn a_server_that_does_not_say_where_to_log_in_is_not_guessed_at() {
    let site = LoginSite::with(|asked, reply| match asked.target.as_str() {
        "/mcp" => Reply::empty(401),
        path if path.starts_with("/.well-known") => Reply::empty(404),
        _ => reply,
    })
    .await;
    let person = Person::agreeing();
    let refused = logins().login(&site.server(), &person).await;
    let refused = refused.expect_err("nobody knows where");
    assert!(
        matches!(refused, LoginError::NotOffered { .. }),
        "{refused}"
    );
    assert!(site.asked("/register").is_empty());
    assert_eq!(person.asked(), 0);
}

#[tokio::test]
async fn documents_that_are_too_long_are_not_read() {
    let site = LoginSite::saying(|metadata| {
        metadata["filler"] = json!("x".repeat(300 * 1024));
    })
    .await;
    let refused = logins().login(&site.server(), &Person::agreeing()).await;
    let refused = refused.expect_err("it is too long");
    assert!(matches!(refused, LoginError::Unreachable { .. }));
    assert!(refused.to_string().contains("more than 262144 bytes"));
}
