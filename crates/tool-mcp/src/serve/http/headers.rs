//! Headers that repeat what the body says, for whoever stands between and does not read bodies.
//!
//! Source: Model Context Protocol 2026-07-28, "Transports", Standard Request Headers; SEP-2243.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::serve::params::Params;
use crate::serve::server::Served;
use crate::wire::RpcError;

pub(crate) const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const PARAM: &str = "mcp-param-";
/// The keyword of a schema that names the header of an argument.
const KEYWORD: &str = "x-mcp-header";

/// What stands around a value that a header could not hold as it is.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// Compares the headers of a request without a handshake with its body.
pub(crate) fn check(
    served: &Served,
    headers: &HeaderMap,
    method: &str,
    params: &Params,
) -> Result<(), RpcError> {
    let version = params.meta.version.as_deref();
    agrees(headers, VERSION, version)?;
    agrees(headers, METHOD, Some(method))?;
    let name = name_of(method, params);
    // A name that is missing is the method's own error.
    if name.is_some() {
        agrees(headers, NAME, name)?;
    }
    if method == "tools/call"
        && let Some(name) = name
    {
        arguments_agree(served, headers, name, params)?;
    }
    Ok(())
}

/// Compares the headers that a message with a handshake has all the same: whoever stands between
/// may go by them.
pub(crate) fn check_given(
    headers: &HeaderMap,
    method: &str,
    params: Option<&Params>,
) -> Result<(), RpcError> {
    if headers.contains_key(METHOD) {
        agrees(headers, METHOD, Some(method))?;
    }
    match params.and_then(|params| name_of(method, params)) {
        Some(name) if headers.contains_key(NAME) => agrees(headers, NAME, Some(name)),
        _ => Ok(()),
    }
}

/// What a request is about, where a header repeats it.
fn name_of<'a>(method: &str, params: &'a Params) -> Option<&'a str> {
    match method {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        _ => None,
    }
}

/// Compares the arguments that a tool wants repeated.
fn arguments_agree(
    served: &Served,
    headers: &HeaderMap,
    tool: &str,
    params: &Params,
) -> Result<(), RpcError> {
    let snapshot = served.registry.snapshot();
    let Some(entry) = snapshot.get(tool) else {
        return Ok(());
    };
    let schema = entry.definition().input.as_value();
    let mut repeated = Vec::new();
    collect(schema, &mut Vec::new(), &mut repeated);
    if repeated.is_empty() {
        return Ok(());
    }
    let arguments: Value = params
        .arguments
        .as_deref()
        .and_then(|text| serde_json::from_str(text.get()).ok())
        .unwrap_or_default();
    for (path, header) in repeated {
        let value = path
            .iter()
            .try_fold(&arguments, |value, key| value.get(key));
        let told = match value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Bool(value)) => Some(value.to_string()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        agrees(headers, &format!("{PARAM}{header}"), told.as_deref())?;
    }
    Ok(())
}

/// Finds the arguments to be repeated: those that can be reached through properties alone.
fn collect<'a>(
    schema: &'a Value,
    path: &mut Vec<&'a str>,
    repeated: &mut Vec<(Vec<&'a str>, String)>,
) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        path.push(key);
        if let Some(header) = property.get(KEYWORD).and_then(Value::as_str) {
            repeated.push((path.clone(), header.to_ascii_lowercase()));
        }
        collect(property, path, repeated);
        path.pop();
    }
}

/// Whether a header says exactly this, once; or nothing, where there is nothing to say.
fn agrees(headers: &HeaderMap, name: &str, expected: Option<&str>) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    let agrees = match (values.next(), expected) {
        (None, None) => true,
        (Some(value), Some(expected)) => {
            let said = value.to_str().ok().and_then(decoded);
            values.next().is_none() && said.as_deref() == Some(expected)
        }
        _ => false,
    };
    match agrees {
        true => Ok(()),
        false => Err(RpcError::new(
            RpcError::HEADERS,
            format!("the header {name} does not say what the body says"),
        )),
    }
}

fn decoded(value: &str) -> Option<String> {
    let (before, after) = ENCODED;
    match value
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after))
    {
        None => Some(value.trim_matches([' ', '\t']).to_owned()),
        // Whoever stands between may read it more strictly than we would.
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}
