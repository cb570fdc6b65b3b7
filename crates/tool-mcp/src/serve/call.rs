//! One call of a client.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorData, ProgressNotificationParam, ProgressToken,
    ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio::sync::mpsc;
use tool_core::{Call, Facts, Progress};
use tool_registry::{Door, Snapshot};

use super::numbering::Numbering;
use super::result;

/// Reports that may wait for the client. A tool that reports faster loses the newest.
const WAITING_REPORTS: usize = 64;

/// Settles one call and tells the client of its progress, if it asked to be told.
///
/// # Cancel safety
/// Dropping the future cancels the call.
pub(crate) async fn settle(
    snapshot: Snapshot,
    facts: &Facts,
    params: CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let any_structure = cx
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    // Arguments that are left out are none.
    let arguments = Value::Object(params.arguments.unwrap_or_default());
    let call = Call::new(params.name, arguments).id(cx.id.to_string());
    let settling = snapshot.settle(call, facts).door(Door::Mcp);

    let settlement = match cx.meta.get_progress_token() {
        None => settling.await,
        Some(token) => {
            let (reports, waiting) = mpsc::channel(WAITING_REPORTS);
            let settling = settling.progress(move |report: Progress| {
                // A report that finds no room is not worth waiting for.
                let _ = reports.try_send(report);
            });
            // The channel ends with the call, so every report is out before the answer is.
            let (settlement, ()) = tokio::join!(settling, tell(&cx.peer, token, waiting));
            settlement
        }
    };
    result::answer(settlement, any_structure)
}

async fn tell(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    mut reports: mpsc::Receiver<Progress>,
) {
    let mut numbering = Numbering::default();
    while let Some(report) = reports.recv().await {
        let mut params = ProgressNotificationParam::new(token.clone(), numbering.next(&report));
        params.total = report.total.filter(|total| total.is_finite());
        params.message = report.message;
        if peer.notify_progress(params).await.is_err() {
            // The client is gone; the call is about to be dropped.
            return;
        }
    }
}
