use std::time::{Duration, SystemTime};

use secrecy::ExposeSecret as _;

use super::{Client, Grant, Record, Registered, Renewing};
use crate::oauth::tokens::Tokens;

fn record() -> Record {
    let client = Client {
        id: "id".to_owned(),
        secret: Some("canary-secret".into()),
        redirect_uri: "http://127.0.0.1:1/callback".to_owned(),
    };
    Record {
        url: "https://mcp.example.com/mcp".to_owned(),
        grant: Some(Grant {
            issuer: "https://as.example.com".to_owned(),
            client: client.clone(),
            scopes: vec!["a".to_owned()],
            access: "canary-access".into(),
            refresh: Some("canary-refresh".into()),
            expires: Some(SystemTime::UNIX_EPOCH + Duration::from_millis(1500)),
            due: Some(SystemTime::UNIX_EPOCH + Duration::from_millis(750)),
            login: Some("one".to_owned()),
            revoking: None,
        }),
        registered: Some(Registered {
            issuer: "https://as.example.com".to_owned(),
            client,
        }),
        wanted: vec!["b".to_owned()],
        renewing: Some(Renewing {
            by: "me".to_owned(),
            until: 7,
        }),
    }
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let written = record().write().expect("it can be written");
    let read = Record::read(&written).expect("it can be read");
    assert_eq!(written, read.write().expect("it can be written"));
    let grant = read.grant.expect("there is one");
    assert_eq!(grant.access.expose_secret(), "canary-access");
    assert_eq!(grant.login.as_deref(), Some("one"));
    assert!(grant.refresh.is_some() && grant.client.secret.is_some());
}

#[test]
fn a_record_of_another_format_is_not_read() {
    let written = record().write().expect("it can be written");
    let text = String::from_utf8(written.to_vec()).expect("it is text");
    let newer = text.replace("\"format\":1", "\"format\":2");
    assert!(Record::read(newer.as_bytes()).is_none());
    assert!(Record::read(b"{").is_none());
}

#[test]
fn printing_a_record_shows_no_secret() {
    let printed = format!("{:?}", record());
    assert!(!printed.contains("canary"), "{printed}");
}

#[test]
fn a_refresh_token_that_is_not_replaced_stays() {
    let tokens = |refresh: Option<&str>| Tokens {
        access: "new".into(),
        refresh: refresh.map(Into::into),
        expires: None,
        due: None,
        scopes: None,
    };
    let mut record = record();
    record.renew(tokens(None));
    let refresh = |record: &Record| {
        let grant = record.grant.as_ref().expect("there is one");
        grant
            .refresh
            .as_ref()
            .expect("there is one")
            .expose_secret()
            .to_owned()
    };
    assert_eq!(refresh(&record), "canary-refresh");
    assert!(record.renewing.is_none());
    record.renew(tokens(Some("other")));
    assert_eq!(refresh(&record), "other");
}
