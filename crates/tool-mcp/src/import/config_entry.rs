//! One entry of a configuration of servers.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tool_core::Namespace;

use super::config::Entry;
use super::nearest::nearest_slip;
use super::reader::Reader;
use super::server_config::HttpTarget;
use super::{EntryError, Overlay, ServerConfig, overlay};

/// All keys of an entry that mean something here.
pub(crate) const KEYS: [&str; 11] = [
    "command",
    "args",
    "env",
    "cwd",
    "prefix",
    "url",
    "headers",
    "bearerEnv",
    "oauth",
    "disabled",
    "overlay",
];
/// Those of servers that are started, and of servers that are reached.
const OF_PROCESSES: [&str; 4] = ["args", "prefix", "env", "cwd"];
const OF_REMOTES: [&str; 3] = ["headers", "bearerEnv", "oauth"];

/// Reads one entry. What is wrong with it is its own.
///
/// # Errors
/// Everything that is wrong with it, and the keys that are slips of the pen: one may be the cause.
pub(crate) fn read_entry(name: &str, value: &Value) -> Result<Entry, Vec<EntryError>> {
    let mut reader = Reader::new(name);
    let namespace = Namespace::new(name).map_err(|problem| reader.wrong("", problem.to_string()));
    let (Ok(namespace), Some(entry)) = (namespace, reader.any_members("", value)) else {
        return Err(reader.into_problems());
    };
    if entry.get("disabled") == Some(&Value::Bool(true)) {
        return Ok(Entry::Disabled);
    }
    let server = read_reached(&mut reader, namespace, entry);
    let set = match reader.member("", entry, overlay::KEY) {
        Some((_, value)) => Overlay::read_by(&mut reader, value),
        None => Overlay::default(),
    };
    match (server, reader.is_content()) {
        (Some(server), true) => Ok(Entry::Server(Box::new(server.overlay(set)))),
        _ => {
            for (key, near) in slips(entry) {
                reader.wrong(key, format!("is not known; did you mean \"{near}\"?"));
            }
            Err(reader.into_problems())
        }
    }
}

/// A key of other clients that reads like one of ours.
const OF_OTHERS: &str = "auth";

/// Keys of an entry that are slips of the pen, as far as can be told, each with what it was meant
/// to be. Other clients' keys are theirs: `name` is no slip for `cwd`, nor `type` for `prefix`.
pub(crate) fn slips(entry: &Map<String, Value>) -> impl Iterator<Item = (&str, &'static str)> {
    let keys = entry.keys().map(String::as_str);
    let unknown = keys.filter(|key| !KEYS.contains(key) && *key != OF_OTHERS);
    unknown.filter_map(|key| Some((key, nearest_slip(key, KEYS)?)))
}

/// How it is reached. One that is told in two ways or in none is looked at as both.
fn read_reached(
    reader: &mut Reader,
    namespace: Namespace,
    entry: &Map<String, Value>,
) -> Option<ServerConfig> {
    let (command, url) = (entry.get("command"), entry.get("url"));
    match (command, url) {
        (Some(_), Some(_)) => reader.wrong("url", "stands beside \"command\""),
        (None, None) => reader.wrong("command", "is missing"),
        (Some(_), None) => refuse(reader, entry, &OF_REMOTES, "is for servers with a \"url\""),
        (None, Some(_)) => refuse(
            reader,
            entry,
            &OF_PROCESSES,
            "is for servers with a \"command\"",
        ),
    }
    let command = command.and_then(|command| reader.string("command", command));
    if command
        .as_ref()
        .is_some_and(|command| command.trim().is_empty())
    {
        reader.wrong("command", "is blank");
    }
    let is_process = entry.contains_key("command") || url.is_none();
    let is_remote = url.is_some() || !entry.contains_key("command");
    let mut server = ServerConfig::new(namespace, command.unwrap_or_default());
    if is_process {
        read_process(reader, &mut server, entry);
    }
    if is_remote {
        // Which of the two is meant is not known.
        server.http = read_remote(reader, entry, url.filter(|_| !is_process));
    }
    (is_process != is_remote).then_some(server)
}

fn refuse(reader: &mut Reader, entry: &Map<String, Value>, keys: &[&str], problem: &str) {
    for key in keys {
        if let Some((at, _)) = reader.member("", entry, key) {
            reader.wrong(&at, problem);
        }
    }
}

fn read_process(reader: &mut Reader, server: &mut ServerConfig, entry: &Map<String, Value>) {
    server.args = reader.strings("", entry, "args");
    server.prefix = reader.strings("", entry, "prefix");
    if let Some((at, value)) = reader.member("", entry, "env")
        && let Some(variables) = reader.any_members(&at, value)
    {
        for (variable, value) in variables {
            let at = format!("{at}.{variable}");
            if variable.is_empty() || variable.contains(['=', '\0']) {
                reader.wrong(&at, "is no name of a variable");
            }
            if let Some(value) = reader.string(&at, value) {
                server.env.insert(variable.clone(), value);
            }
        }
    }
    if let Some((at, value)) = reader.member("", entry, "cwd") {
        server.cwd = reader.string(&at, value).map(Into::into);
    }
}

/// A server over HTTP: encrypted, or on this machine.
fn read_remote(
    reader: &mut Reader,
    entry: &Map<String, Value>,
    url: Option<&Value>,
) -> Option<HttpTarget> {
    if url.is_some() && !cfg!(feature = "http-client") {
        reader.wrong("url", "servers over HTTP are not supported by this build");
        return None;
    }
    let url = url.and_then(|url| reader.string("url", url));
    if let Some(problem) = url.as_deref().and_then(|url| check_url(url).err()) {
        reader.wrong("url", problem);
    }
    let mut http = HttpTarget::new(url.unwrap_or_default());
    http.headers = read_headers(reader, entry);
    if let Some((at, variable)) = reader.member("", entry, "bearerEnv")
        && let Some(variable) = reader.string(&at, variable)
    {
        if variable.is_empty() || variable.contains('=') {
            reader.wrong(&at, "is no name of a variable");
        }
        if http.headers.contains_key("authorization") {
            reader.wrong(&at, "stands beside a header \"authorization\"");
        }
        http.bearer_env = Some(variable);
    }
    read_oauth(reader, entry, &mut http);
    Some(http)
}

fn read_headers(reader: &mut Reader, entry: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut read = BTreeMap::new();
    let Some((at, value)) = reader.member("", entry, "headers") else {
        return read;
    };
    for (header, value) in reader.any_members(&at, value).into_iter().flatten() {
        let at = format!("{at}.{header}");
        let lower = header.to_ascii_lowercase();
        if header.is_empty() || !header.bytes().all(is_token) {
            reader.wrong(&at, "is no name of a header");
        } else if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            reader.wrong(&at, "is set by the client itself");
        }
        let Some(value) = reader.string(&at, value) else {
            continue;
        };
        let is_control = |byte: u8| byte < b' ' && byte != b'\t' || byte == 0x7f;
        if value.bytes().any(is_control) {
            reader.wrong(&at, "holds a control character");
        }
        read.insert(lower, value);
    }
    read
}

/// Without the feature nobody can log in, whatever is configured.
#[cfg(not(feature = "oauth"))]
fn read_oauth(reader: &mut Reader, entry: &Map<String, Value>, _http: &mut HttpTarget) {
    match reader.member("", entry, "oauth") {
        None | Some((_, Value::Bool(false))) => {}
        Some((at, _)) => {
            let problem = "needs somebody to log in, which this build cannot have: it lacks the feature \"oauth\"";
            reader.wrong(&at, problem);
        }
    }
}

#[cfg(feature = "oauth")]
fn read_oauth(reader: &mut Reader, entry: &Map<String, Value>, http: &mut HttpTarget) {
    super::oauth_entry::read(reader, entry, http);
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
    if lower.starts_with("https://") && !cfg!(feature = "http-client-tls") {
        return Err(
            "is encrypted, which this build cannot speak: it lacks the feature \"http-client-tls\"",
        );
    }
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
