//! Headers that have to repeat what the body says.
//!
//! Source: Model Context Protocol 2026-07-28, "Transports", Standard Request Headers; SEP-2243.

use axum::http::HeaderMap;
use serde_json::Value;

use crate::serve::params::Params;
use crate::serve::server::Served;
use crate::wire::RpcError;
pub(crate) use crate::wire::mirror::VERSION;
use crate::wire::mirror::{METHOD, NAME, decode, mirrors, name_member};

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
    match name_member(method)? {
        "uri" => params.uri.as_deref(),
        _ => params.name.as_deref(),
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
    // A tool that asks for it in a wrong way is none that clients call over HTTP.
    let repeated = mirrors(entry.definition().input.as_value()).unwrap_or_default();
    if repeated.is_empty() {
        return Ok(());
    }
    let arguments: Value = params
        .arguments
        .as_deref()
        .and_then(|text| serde_json::from_str(text.get()).ok())
        .unwrap_or_default();
    for mirror in repeated {
        let told = mirror.told(&arguments);
        agrees(headers, &mirror.header, told.as_deref())?;
    }
    Ok(())
}

/// Whether a header says exactly this, once; or nothing, where there is nothing to say.
fn agrees(headers: &HeaderMap, name: &str, expected: Option<&str>) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    let agrees = match (values.next(), expected) {
        (None, None) => true,
        (Some(value), Some(expected)) => {
            let said = value.to_str().ok().and_then(decode);
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
