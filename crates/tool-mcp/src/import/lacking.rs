//! What a server needs and the client whose call it is lacks.

use super::call_error::CallError;
use super::line::Line;
use crate::serve::{AskKind, CallingClient};
use crate::wire::RpcError;

/// Has the client whose call it is told by the protocol's own error what a server refused for the
/// want of, and does not return then: the call is dropped, and the client may call again and say
/// that it can do it.
///
/// Returns where that would help nobody: a client with a handshake knows no such error and cannot
/// say more than it did, and what no rule lets the server ask, or what is no question at all, the
/// server would lack all the same.
///
/// Source: Model Context Protocol 2026-07-28, "Overview", error codes: -32021
/// `MissingRequiredClientCapability`, with `requiredCapabilities`.
pub(crate) async fn tell(line: &Line, error: &CallError) {
    let CallError::Peer { code, data, .. } = error else {
        return;
    };
    if *code != RpcError::CAPABILITY {
        return;
    }
    let calling = CallingClient::current().filter(CallingClient::is_asked_by_result);
    let required = data
        .as_ref()
        .and_then(|data| data.get("requiredCapabilities"));
    let required = required.and_then(AskKind::all_of);
    let (Some(calling), Some(required)) = (calling, required) else {
        return;
    };
    let Ok(connection) = line.get() else {
        return;
    };
    let Some(inputs) = &connection.party().inputs else {
        return;
    };
    let missing: Vec<AskKind> = required
        .into_iter()
        .filter(|kind| !calling.can(*kind))
        .collect();
    let lacked = inputs.lacked(connection.server()).await;
    if !missing.is_empty() && missing.iter().all(|kind| lacked.contains(kind)) {
        calling.lack(missing).await;
    }
}
