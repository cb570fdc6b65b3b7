//! What an entry of a configuration says of logging in.

use reqwest::Url;
use serde_json::{Map, Value};

use super::reader::Reader;
use super::server_config::HttpTarget;
use crate::oauth::{OAuthClient, Secret};

/// The key of it all, and those below.
const OAUTH: &str = "oauth";
const KEYS: [&str; 6] = [
    "clientId",
    "clientSecretEnv",
    "issuer",
    "metadataUrl",
    "privateHosts",
    "scopes",
];

/// Reads it: `false` has nobody log in, an object says who we are.
pub(super) fn read(reader: &mut Reader, entry: &Map<String, Value>, http: &mut HttpTarget) {
    let (at, members) = match reader.member("", entry, OAUTH) {
        None => return,
        Some((_, Value::Bool(false))) => {
            http.oauth = None;
            return;
        }
        Some((at, value @ Value::Object(_))) => (at, value),
        Some((at, _)) => return reader.wrong(&at, "is neither an object nor false"),
    };
    if http.bearer_env.is_some() || http.headers.contains_key("authorization") {
        reader.wrong(&at, "stands beside a token of its own");
    }
    let Some(members) = reader.members(&at, members, &KEYS) else {
        return;
    };
    let mut text = |key: &str| {
        let (at, value) = reader.member(&at, members, key)?;
        let text = reader.string(&at, value)?;
        if text.trim().is_empty() {
            reader.wrong(&at, "is blank");
        }
        Some(text)
    };
    let variable = text("clientSecretEnv");
    let client = OAuthClient {
        id: text("clientId"),
        secret: variable.clone().map(Secret::Variable),
        metadata_url: text("metadataUrl"),
        issuer: text("issuer"),
        scopes: reader.strings(&at, members, "scopes"),
        private_hosts: reader.strings(&at, members, "privateHosts"),
    };
    if variable.is_some_and(|name| name.contains('=')) {
        reader.wrong("oauth.clientSecretEnv", "is no name of a variable");
    }
    let has_id = reader.member(&at, members, "clientId").is_some();
    if client.secret.is_some() && !has_id {
        let problem = "stands without the \"clientId\" that it is the secret of";
        reader.wrong("oauth.clientSecretEnv", problem);
    }
    let is_document = |url: &String| {
        Url::parse(url).is_ok_and(|url| url.scheme() == "https" && url.path() != "/")
    };
    if client
        .metadata_url
        .as_ref()
        .is_some_and(|url| !is_document(url))
    {
        reader.wrong("oauth.metadataUrl", "is no https address with a path");
    }
    if client
        .issuer
        .as_ref()
        .is_some_and(|url| Url::parse(url).is_err())
    {
        reader.wrong("oauth.issuer", "is no address");
    }
    http.oauth = Some(Box::new(client));
}
