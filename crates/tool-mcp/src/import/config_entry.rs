//! One entry of a configuration of servers.

use serde_json::{Map, Value};
use tool_core::Namespace;

use super::config::Entry;
use super::server_config::HttpTarget;
use super::{EntryError, Overlay, ServerConfig, overlay};

/// All keys of an entry that mean something here.
pub(crate) const KEYS: [&str; 10] = [
    "command",
    "args",
    "env",
    "cwd",
    "prefix",
    "url",
    "headers",
    "bearerEnv",
    "disabled",
    "overlay",
];

/// Reads one entry. What is wrong with it is its own.
///
/// # Errors
/// What is wrong with how it is reached, and everything that is wrong with its overlay.
pub(crate) fn read_entry(name: &str, value: &Value) -> Result<Entry, Vec<EntryError>> {
    let mut problems = Vec::new();
    let read = read_reached(name, value).map_err(|problem| problems.push(problem));
    if matches!(read, Ok(Entry::Disabled)) {
        return Ok(Entry::Disabled);
    }
    let overlay = value.get(overlay::KEY).filter(|overlay| !overlay.is_null());
    let mut set = Overlay::default();
    if let (Some(overlay), Ok(namespace)) = (overlay, Namespace::new(name)) {
        match Overlay::read(&namespace, overlay) {
            Ok(overlay) => set = overlay,
            Err(more) => problems.extend(more),
        }
    }
    match read {
        Ok(Entry::Server(server)) if problems.is_empty() => {
            Ok(Entry::Server(Box::new(server.overlay(set))))
        }
        _ => Err(problems),
    }
}

fn read_reached(name: &str, value: &Value) -> Result<Entry, EntryError> {
    let wrong = |key: &str, problem: &str| EntryError::new(name, key, problem);
    let namespace =
        Namespace::new(name).map_err(|problem| EntryError::new(name, "", problem.to_string()))?;
    let entry = value.as_object().ok_or_else(|| wrong("", "is no object"))?;
    if entry.get("disabled") == Some(&Value::Bool(true)) {
        return Ok(Entry::Disabled);
    }
    match (entry.get("command"), entry.get("url")) {
        (Some(_), Some(_)) => Err(wrong("url", "stands beside \"command\"")),
        (None, Some(url)) => {
            let url = string(name, "url", url)?;
            read_remote(namespace, entry, url).map(|server| Entry::Server(Box::new(server)))
        }
        (None, None) => Err(wrong("command", "is missing")),
        (Some(command), None) => {
            let command = string(name, "command", command)?;
            if command.trim().is_empty() {
                return Err(wrong("command", "is blank"));
            }
            read_process(ServerConfig::new(namespace, command), entry)
                .map(|server| Entry::Server(Box::new(server)))
        }
    }
}

fn read_process(
    mut server: ServerConfig,
    entry: &Map<String, Value>,
) -> Result<ServerConfig, EntryError> {
    let name = server.name().as_str().to_owned();
    for key in ["headers", "bearerEnv", "oauth"] {
        if present(entry, key).is_some() {
            return Err(EntryError::new(&name, key, "is for servers with a \"url\""));
        }
    }
    server.args = strings(&name, entry, "args")?;
    server.prefix = strings(&name, entry, "prefix")?;
    for (variable, value) in object(&name, entry, "env")? {
        let key = format!("env.{variable}");
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(EntryError::new(&name, key, "is no name of a variable"));
        }
        let value = string(&name, &key, value)?;
        server.env.insert(variable.clone(), value);
    }
    if let Some(cwd) = present(entry, "cwd") {
        server.cwd = Some(string(&name, "cwd", cwd)?.into());
    }
    Ok(server)
}

/// A server over HTTP: encrypted, or on this machine.
fn read_remote(
    namespace: Namespace,
    entry: &Map<String, Value>,
    url: String,
) -> Result<ServerConfig, EntryError> {
    let name = namespace.as_str().to_owned();
    if !cfg!(feature = "http-client") {
        let problem = "servers over HTTP are not supported by this build";
        return Err(EntryError::new(&name, "url", problem));
    }
    if url.to_ascii_lowercase().starts_with("https://") && !cfg!(feature = "http-client-tls") {
        let problem =
            "is encrypted, which this build cannot speak: it lacks the feature \"http-client-tls\"";
        return Err(EntryError::new(&name, "url", problem));
    }
    for key in ["args", "prefix", "env", "cwd"] {
        if present(entry, key).is_some() {
            return Err(EntryError::new(
                &name,
                key,
                "is for servers with a \"command\"",
            ));
        }
    }
    check_url(&url).map_err(|problem| EntryError::new(&name, "url", problem))?;
    let mut http = HttpTarget::new(url);
    for (header, value) in object(&name, entry, "headers")? {
        let key = format!("headers.{header}");
        if header.is_empty() || !header.bytes().all(is_token) {
            return Err(EntryError::new(&name, key, "is no name of a header"));
        }
        let header = header.to_ascii_lowercase();
        if RESERVED.contains(&header.as_str()) || header.starts_with("mcp-") {
            return Err(EntryError::new(&name, key, "is set by the client itself"));
        }
        let value = string(&name, &key, value)?;
        if value
            .bytes()
            .any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f)
        {
            return Err(EntryError::new(&name, key, "holds a control character"));
        }
        http.headers.insert(header, value);
    }
    if let Some(variable) = present(entry, "bearerEnv") {
        let variable = string(&name, "bearerEnv", variable)?;
        if variable.is_empty() || variable.contains('=') {
            return Err(EntryError::new(
                &name,
                "bearerEnv",
                "is no name of a variable",
            ));
        }
        if http.headers.contains_key("authorization") {
            let problem = "stands beside a header \"authorization\"";
            return Err(EntryError::new(&name, "bearerEnv", problem));
        }
        http.bearer_env = Some(variable);
    }
    read_oauth(&name, entry, &mut http)?;
    let mut server = ServerConfig::new(namespace, "");
    server.http = Some(http);
    Ok(server)
}

/// Without the feature nobody can log in, whatever is configured.
#[cfg(not(feature = "oauth"))]
fn read_oauth(
    name: &str,
    entry: &Map<String, Value>,
    _http: &mut HttpTarget,
) -> Result<(), EntryError> {
    match present(entry, "oauth") {
        None | Some(Value::Bool(false)) => Ok(()),
        Some(_) => {
            let problem = "needs somebody to log in, which this build cannot have: it lacks the feature \"oauth\"";
            Err(EntryError::new(name, "oauth", problem))
        }
    }
}

#[cfg(feature = "oauth")]
fn read_oauth(
    name: &str,
    entry: &Map<String, Value>,
    http: &mut HttpTarget,
) -> Result<(), EntryError> {
    super::oauth_entry::read(name, entry, http)
}

/// Headers that a message needs to be right.
const RESERVED: [&str; 7] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "transfer-encoding",
];

/// Encrypted, or on this machine.
fn check_url(url: &str) -> Result<(), &'static str> {
    let lower = url.to_ascii_lowercase();
    let authority = lower.split("://").nth(1).unwrap_or_default();
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("holds a user name or password; use \"headers\"");
    }
    if let Some(rest) = lower.strip_prefix("https://") {
        return if rest.is_empty() || rest.starts_with('/') {
            Err("names no host")
        } else {
            Ok(())
        };
    }
    let Some(rest) = lower.strip_prefix("http://") else {
        return Err("is neither https nor http");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let loopback = host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    if loopback {
        Ok(())
    } else {
        Err("is not encrypted and leads to another machine; use https")
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

pub(super) fn present<'a>(entry: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

pub(super) fn strings(
    server: &str,
    entry: &Map<String, Value>,
    key: &str,
) -> Result<Vec<String>, EntryError> {
    let Some(items) = present(entry, key) else {
        return Ok(Vec::new());
    };
    let items = items
        .as_array()
        .ok_or_else(|| EntryError::new(server, key, "is no array"))?;
    items
        .iter()
        .enumerate()
        .map(|(index, item)| string(server, &format!("{key}.{index}"), item))
        .collect()
}

fn object<'a>(
    server: &str,
    entry: &'a Map<String, Value>,
    key: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, EntryError> {
    let members = match present(entry, key) {
        Some(value) => Some(
            value
                .as_object()
                .ok_or_else(|| EntryError::new(server, key, "is no object"))?,
        ),
        None => None,
    };
    Ok(members.into_iter().flatten())
}

pub(super) fn string(server: &str, key: &str, value: &Value) -> Result<String, EntryError> {
    let text = value
        .as_str()
        .ok_or_else(|| EntryError::new(server, key, "is no string"))?;
    if text.contains('\0') {
        return Err(EntryError::new(server, key, "holds a NUL character"));
    }
    Ok(text.to_owned())
}
