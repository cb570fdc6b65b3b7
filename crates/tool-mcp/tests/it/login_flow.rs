//! Logging in to servers.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::Url;
use serde_json::json;
use tool_core::{Credential, Namespace};
use tool_mcp::{LoginError, Logins, LoopbackAuthorizer, OAuthClient, ServerConfig};
use tool_registry::MemoryState;

use crate::support::login_site::LoginSite;
use crate::support::person::{Person, REDIRECT_URI, value};

fn logins() -> Logins {
    Logins::new(Arc::new(MemoryState::default())).clock(|| SystemTime::UNIX_EPOCH)
}

#[tokio::test]
async fn a_login_asks_for_what_the_server_names_and_proves_who_asked() {
    let site = LoginSite::new().await;
    let (logins, person) = (logins().client_name("tests"), Person::agreeing());
    let login = logins
        .login(&site.server(), &person)
        .await
        .expect("it agrees");
    assert_eq!(login.issuer, site.issuer());
    assert_eq!(login.scopes, ["basic"]);
    let hour = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
    assert_eq!((login.expires, login.renews), (Some(hour), true));
    assert_eq!(
        logins.status(&site.server()).await.expect("it is read"),
        Some(login)
    );

    let page = person.urls().remove(0);
    assert_eq!(person.pages()[0].host, "127.0.0.1");
    let resource = site.http.url();
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "registered"),
        ("redirect_uri", REDIRECT_URI),
        ("scope", "basic"),
        ("resource", resource.as_str()),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(value(&page, name), expected, "{name}");
    }
    assert!(value(&page, "state").len() >= 16);
    let form = site.forms().remove(0);
    assert_eq!(form["code"], "canary-code");
    assert_eq!(form["resource"], resource);
    assert!(form["code_verifier"].len() >= 43);
    let registered = site.asked("/register").remove(0).body;
    assert_eq!(registered["client_name"], "tests");
    assert_eq!(registered["redirect_uris"], json!([REDIRECT_URI]));
    assert_eq!(registered["application_type"], "native");
}

#[tokio::test]
async fn whom_the_operator_names_comes_before_a_document_and_that_before_registering() {
    let takes = |takes: bool| {
        LoginSite::saying(move |metadata| {
            metadata["client_id_metadata_document_supported"] = json!(takes);
        })
    };
    let document = OAuthClient::default().metadata_url("https://app.example.com/client.json");
    let named = document
        .clone()
        .id("by-hand")
        .secret(Credential::new("canary-by-hand"));
    for (client, takes_documents, id, registered) in [
        (&named, true, "by-hand", 0),
        (&document, true, "https://app.example.com/client.json", 0),
        (&document, false, "registered", 1),
        (&OAuthClient::default(), true, "registered", 1),
    ] {
        let site = takes(takes_documents).await;
        let person = Person::agreeing();
        let server = site.server().oauth(client.clone());
        logins().login(&server, &person).await.expect("it agrees");
        assert_eq!(value(&person.urls()[0], "client_id"), id);
        assert_eq!(site.asked("/register").len(), registered, "{id}");
    }
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_as_the_server_wants_it() {
    for (methods, in_header) in [
        (json!(["client_secret_basic"]), true),
        (json!(["client_secret_post"]), false),
    ] {
        let site = LoginSite::saying(move |metadata| {
            metadata["token_endpoint_auth_methods_supported"] = methods.clone();
        })
        .await;
        logins()
            .login(&site.server(), &Person::agreeing())
            .await
            .expect("it agrees");
        let asked = site.asked("/token").remove(0);
        let basic = asked
            .header("authorization")
            .is_some_and(|shown| shown.starts_with("Basic "));
        assert_eq!(basic, in_header);
        let form = site.forms().remove(0);
        assert_eq!(form.contains_key("client_secret"), !in_header);
    }
}

#[tokio::test]
async fn a_client_is_registered_once_for_each_place_to_come_back_to() {
    let site = LoginSite::new().await;
    let logins = logins();
    for (redirect_uri, registered) in [
        (REDIRECT_URI, 1),
        (REDIRECT_URI, 1),
        ("http://127.0.0.1:2/callback", 2),
    ] {
        let person = Person::agreeing().coming_back_at(redirect_uri);
        logins
            .login(&site.server(), &person)
            .await
            .expect("it agrees");
        assert_eq!(site.asked("/register").len(), registered);
    }
}

#[tokio::test]
async fn a_server_that_registers_nobody_says_what_to_configure() {
    let site = LoginSite::saying(|metadata| {
        metadata
            .as_object_mut()
            .expect("it is one")
            .remove("registration_endpoint");
    })
    .await;
    let refused = logins().login(&site.server(), &Person::agreeing()).await;
    let refused = refused.expect_err("nobody is registered");
    assert!(matches!(refused, LoginError::NotOffered { .. }));
    assert!(
        refused
            .to_string()
            .contains("set \"clientId\" in \"oauth\"")
    );
}

#[tokio::test]
async fn a_missing_secret_is_named_by_its_variable() {
    let site = LoginSite::new().await;
    let client = OAuthClient::default()
        .id("x")
        .secret_env("TOOL_MCP_TEST_NO_SUCH_SECRET");
    let person = Person::agreeing();
    let refused = logins().login(&site.server().oauth(client), &person).await;
    let refused = refused.expect_err("there is none").to_string();
    assert!(
        refused.contains("TOOL_MCP_TEST_NO_SUCH_SECRET"),
        "{refused}"
    );
    assert!(person.pages().is_empty());
}

#[tokio::test]
async fn whoever_says_no_is_passed_on_by_his_code_and_what_was_there_stays() {
    let site = LoginSite::new().await;
    let logins = logins();
    logins
        .login(&site.server(), &Person::agreeing())
        .await
        .expect("it agrees");
    let before = logins.status(&site.server()).await.expect("it is read");
    for (answer, expected) in [
        (
            "error=access_denied&error_description=canary",
            "said \"access_denied\"",
        ),
        ("code=wrong", "\"invalid_grant\""),
    ] {
        let person =
            Person::answering(move |url| Ok(format!("{answer}&state={}", value(url, "state"))));
        let refused = logins.login(&site.server(), &person).await;
        let refused = refused.expect_err("it is refused");
        assert!(matches!(refused, LoginError::Refused { .. }), "{refused}");
        assert!(refused.to_string().contains(expected), "{refused}");
        assert!(!refused.to_string().contains("canary"), "{refused}");
    }
    let person = Person::answering(|_| Err("nobody is there".to_owned()));
    let refused = logins.login(&site.server(), &person).await;
    assert!(matches!(refused, Err(LoginError::Refused { .. })));
    assert!(before.is_some());
    assert_eq!(
        logins.status(&site.server()).await.expect("it is read"),
        before
    );
}

#[tokio::test]
async fn nobody_logs_in_to_a_server_that_knows_who_calls_by_other_means() {
    let name = || Namespace::new("srv").expect("it is legal");
    let http = || ServerConfig::http(name(), "http://127.0.0.1:1/mcp");
    for server in [
        ServerConfig::new(name(), "command"),
        http().bearer_env("PATH"),
        http().header("Authorization", "Basic x"),
        http().no_oauth(),
    ] {
        let person = Person::agreeing();
        let refused = logins().login(&server, &person).await;
        assert!(
            matches!(refused, Err(LoginError::NotOffered { .. })),
            "{server:?}"
        );
        assert_eq!(person.asked(), 0);
    }
}

#[tokio::test]
async fn a_person_comes_back_on_this_machine_and_whoever_else_knocks_is_sent_away() {
    let site = LoginSite::new().await;
    let (pages, mut shown) = tokio::sync::mpsc::unbounded_channel();
    let authorizer = LoopbackAuthorizer::new(move |page| {
        pages.send(page.url.clone()).expect("the test waits");
    });
    let (logins, server) = (logins(), site.server());
    let login = tokio::spawn(async move { logins.login(&server, &authorizer).await });
    let url = Url::parse(&shown.recv().await.expect("it is shown")).expect("it is one");
    let back = value(&url, "redirect_uri");
    let state = value(&url, "state");
    let browser = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("it starts");
    for (query, host, status) in [
        ("code=forged&state=forged".to_owned(), None, 404),
        ("code=forged".to_owned(), None, 404),
        (
            format!("code=forged&state={state}"),
            Some("evil.example.com"),
            404,
        ),
        (format!("code=canary-code&state={state}"), None, 200),
    ] {
        let mut request = browser.get(format!("{back}?{query}"));
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let answer = request.send().await.expect("it answers");
        assert_eq!(answer.status(), status, "{query}");
    }
    login.await.expect("no panic").expect("it agrees");
    assert_eq!(site.forms().remove(0)["code"], "canary-code");
}
