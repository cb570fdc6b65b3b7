//! What a server needs before it does something, by its error.

use serde_json::{Value, json};

use super::call_error::CallError;
use super::inputs::{Inputs, WantedInput};
use super::line::Line;
use crate::serve::{Ask, AskKind, CallingClient};
use crate::wire::{RpcError, clean};

/// The most pages of one error.
const MOST_PAGES: usize = 16;

/// Has the client whose call it is told by the protocol's own error what a server needs first, where
/// its era knows the error and the client can do something about it. It does not return then: the
/// call is dropped, and the client may make it again.
///
/// Returns where that would help nobody: what no rule lets the server ask, or what is no question
/// at all, the server would lack all the same.
///
/// Source: Model Context Protocol 2026-07-28, "Overview", error codes: -32021
/// `MissingRequiredClientCapability`; 2025-11-25, "Elicitation", URL elicitation required: -32042.
pub(crate) async fn tell(line: &Line, error: &CallError) {
    let CallError::Peer {
        code,
        data: Some(data),
        ..
    } = error
    else {
        return;
    };
    let (Some(calling), Ok(connection)) = (CallingClient::current(), line.get()) else {
        return;
    };
    let Some(inputs) = &connection.party().inputs else {
        return;
    };
    let server = connection.server();
    match (*code, calling.is_asked_by_result()) {
        (RpcError::CAPABILITY, true) => lacks(&calling, &**inputs, server, data).await,
        (RpcError::PAGES, false) => pages(&calling, &**inputs, server, data).await,
        _ => {}
    }
}

async fn lacks(calling: &CallingClient, inputs: &dyn Inputs, server: &str, data: &Value) {
    let required = data.get("requiredCapabilities").and_then(AskKind::all_of);
    let missing: Vec<AskKind> = required
        .into_iter()
        .flatten()
        .filter(|kind| !calling.can(*kind))
        .collect();
    let lacked = inputs.lacked(server).await;
    if !missing.is_empty() && missing.iter().all(|kind| lacked.contains(kind)) {
        calling.lack(missing).await;
    }
}

/// Pages that a person has to open before the call is made again: all of them are passed on, or
/// none is.
async fn pages(calling: &CallingClient, inputs: &dyn Inputs, server: &str, data: &Value) {
    let listed = data.get("elicitations").and_then(Value::as_array);
    let listed = listed.filter(|listed| (1..=MOST_PAGES).contains(&listed.len()));
    let mut passed = Vec::new();
    for page in listed.into_iter().flatten() {
        let text = |member: &str| page.get(member).and_then(Value::as_str).map(clean::text);
        let (Some(url), Some(id)) = (text("url"), text("elicitationId")) else {
            return;
        };
        let message = text("message").unwrap_or_default();
        let wanted = WantedInput {
            server: server.to_owned(),
            key: id.to_string(),
            ask: Ask::page(message, &url, &id),
        };
        let Some(ask) = inputs.passed_on(&wanted).await else {
            return;
        };
        passed.push(ask);
    }
    for page in &passed {
        calling.shown_page(page);
    }
    let passed: Vec<Value> = passed.into_iter().map(Ask::into_params).collect();
    if !passed.is_empty() {
        let text = format!("server {server} needs a person to open a page first");
        let error = RpcError::new(RpcError::PAGES, text);
        calling
            .refuse(error.data(json!({"elicitations": passed})))
            .await;
    }
}
