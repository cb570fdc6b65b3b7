//! What an entry of a configuration says of logging in.

use reqwest::Url;
use serde_json::{Map, Value};

use super::EntryError;
use super::config_entry::{present, string, strings};
use super::server_config::HttpTarget;
use crate::oauth::{OAuthClient, Secret};

/// The key of it all.
const OAUTH: &str = "oauth";

/// Reads it: `false` has nobody log in, an object says who we are.
pub(super) fn read(
    name: &str,
    entry: &Map<String, Value>,
    http: &mut HttpTarget,
) -> Result<(), EntryError> {
    let wrong = |key: &str, problem: &str| EntryError::new(name, key, problem);
    let members = match present(entry, OAUTH) {
        None => return Ok(()),
        Some(Value::Bool(false)) => {
            http.oauth = None;
            return Ok(());
        }
        Some(Value::Object(members)) => members,
        Some(_) => return Err(wrong(OAUTH, "is neither an object nor false")),
    };
    if http.bearer_env.is_some() || http.headers.contains_key("authorization") {
        return Err(wrong(OAUTH, "stands beside a token of its own"));
    }
    let text = |key: &str| -> Result<Option<String>, EntryError> {
        let Some(value) = present(members, key) else {
            return Ok(None);
        };
        let key = format!("{OAUTH}.{key}");
        let text = string(name, &key, value)?;
        match text.trim().is_empty() {
            true => Err(wrong(&key, "is blank")),
            false => Ok(Some(text)),
        }
    };
    let list = |key: &str| strings(name, members, key).map_err(|problem| problem.below(OAUTH));
    let variable = text("clientSecretEnv")?;
    if variable.as_ref().is_some_and(|name| name.contains('=')) {
        return Err(wrong("oauth.clientSecretEnv", "is no name of a variable"));
    }
    let client = OAuthClient {
        id: text("clientId")?,
        secret: variable.map(Secret::Variable),
        metadata_url: text("metadataUrl")?,
        issuer: text("issuer")?,
        scopes: list("scopes")?,
        private_hosts: list("privateHosts")?,
    };
    if client.secret.is_some() && client.id.is_none() {
        let problem = "stands without the \"clientId\" that it is the secret of";
        return Err(wrong("oauth.clientSecretEnv", problem));
    }
    let is_document = |url: &String| {
        Url::parse(url).is_ok_and(|url| url.scheme() == "https" && url.path() != "/")
    };
    if client
        .metadata_url
        .as_ref()
        .is_some_and(|url| !is_document(url))
    {
        return Err(wrong(
            "oauth.metadataUrl",
            "is no https address with a path",
        ));
    }
    if client
        .issuer
        .as_ref()
        .is_some_and(|url| Url::parse(url).is_err())
    {
        return Err(wrong("oauth.issuer", "is no address"));
    }
    http.oauth = Some(Box::new(client));
    Ok(())
}
