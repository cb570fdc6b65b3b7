//! One call of a client.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tool_core::{Call, Outcome, Progress, Settlement, Suspension, Verdict};
use tool_registry::{Approvals, Door, Settling};

use super::calling_client::CallingClient;
use super::client::{Client, Era};
use super::numbering::Numbering;
use super::params::Params;
use super::request_state::{Bound, RequestState};
use super::rounds::{self, Answered};
use super::server::Served;
use super::{Ask, approval, result};
use crate::wire::{Id, Message, RpcError};

/// Reports that may wait for the client. A tool that reports faster loses the newest.
const WAITING_REPORTS: usize = 64;
/// Questions of one call to a client that is asked while the call waits. A service that is never
/// content must not ask for ever.
const MOST_QUESTIONS: usize = 16;

/// Settles one call, tells the client of its progress, if it asked to be told, and asks it what
/// policy or the tool wants to know.
///
/// # Cancel safety
/// Dropping the future cancels the call.
pub(crate) async fn call(
    served: &Served,
    client: &Client,
    id: &Id,
    mut params: Params,
) -> Result<Answered, RpcError> {
    let mut responses = params.responses()?;
    let meta = params.meta.carried.take();
    let name = params.needed_name()?;
    let arguments = params.arguments_text()?;
    let bound = Bound {
        method: "tools/call",
        name,
        arguments,
        facts: &client.facts,
    };
    let state = rounds::open(served, client, params.request_state.as_deref(), &bound)?;
    let mut given = state.answers;
    let word = match &state.suspension {
        Some(_) => responses.remove(approval::KEY),
        None => None,
    };
    given.extend(responses);

    client.held.begin(&client.facts);
    let calling = CallingClient::new(client.clone(), meta, given, state.kept);
    let snapshot = served.registry.request(&client.facts);
    let fresh = || {
        let asks = served.asks_clients && approval::can_be_asked(client);
        let approvals = if asks {
            Approvals::Suspend
        } else {
            Approvals::Inline
        };
        let call = Call::new(name, arguments).id(id.to_string());
        snapshot.settle(call, &client.facts).approvals(approvals)
    };
    let mut settling = match state.suspension {
        None => fresh(),
        Some(suspension) => {
            let word = word.and_then(|word| approval::verdict(&suspension.gate, &word));
            match word {
                Some(verdict) => snapshot.resume(*suspension, verdict, &client.facts),
                // An address for consent does not travel, and is asked for anew.
                None if approval::question(&suspension).is_none() => fresh(),
                None => return ask_to_decide(served, &calling, suspension, &bound),
            }
        }
    };
    let mut questions = 0;
    loop {
        let told = told(
            client,
            settling.door(Door::Mcp),
            params.meta.progress_token.as_ref(),
        );
        let settlement = tokio::select! {
            biased;
            settlement = calling.serve(told) => settlement,
            needed = calling.needed() => return rounds::needed(served, &calling, needed, &bound),
        };
        let Outcome::Suspended(suspension) = settlement.outcome else {
            return answer(settlement, client, served).map(Answered::Complete);
        };
        let Some(ask) = approval::question(&suspension) else {
            return Ok(Answered::Complete(result::refused(format!(
                "{}: {} is needed, which no client can be asked for",
                suspension.tool, suspension.gate,
            ))));
        };
        questions += 1;
        if !calling.can(ask.kind()) || questions > MOST_QUESTIONS {
            return Ok(Answered::Complete(result::refused(cannot(
                &suspension,
                &ask,
            ))));
        }
        let verdict = match &client.era {
            Era::Stateless { .. } => return ask_to_decide(served, &calling, suspension, &bound),
            Era::Handshake(_) => calling
                .ask(approval::KEY, ask)
                .await
                .ok()
                .and_then(|word| approval::verdict(&suspension.gate, &word))
                .unwrap_or(Verdict::Decline { note: None }),
        };
        settling = snapshot.resume(*suspension, verdict, &client.facts);
    }
}

/// Asks for the decision on a call that waits, with the call itself in the state.
fn ask_to_decide(
    served: &Served,
    calling: &CallingClient,
    suspension: Box<Suspension>,
    bound: &Bound<'_>,
) -> Result<Answered, RpcError> {
    let Some(ask) = approval::question(&suspension).filter(|ask| calling.can(ask.kind())) else {
        return Ok(Answered::Complete(result::refused(format!(
            "{}: {} is needed, and this client cannot be asked for it",
            suspension.tool, suspension.gate,
        ))));
    };
    let state = RequestState {
        suspension: Some(suspension),
        ..calling.state()
    };
    rounds::ask(served, vec![(approval::KEY.to_owned(), ask)], state, bound)
}

fn cannot(suspension: &Suspension, ask: &Ask) -> String {
    format!(
        "{}: {} is needed, and this client cannot {} to ask for it",
        suspension.tool,
        suspension.gate,
        ask.kind().as_str(),
    )
}

fn answer(
    settlement: Settlement,
    client: &Client,
    served: &Served,
) -> Result<Map<String, Value>, RpcError> {
    result::answer(settlement, client.is_stateless(), served.has_outputs())
}

async fn told(client: &Client, settling: Settling, token: Option<&Value>) -> Settlement {
    let Some(token) = token else {
        return settling.await;
    };
    let (reports, waiting) = mpsc::channel(WAITING_REPORTS);
    let settling = settling.progress(move |report: Progress| {
        // A report that finds no room is not worth waiting for.
        let _ = reports.try_send(report);
    });
    // The channel ends with the call, so every report is out before the answer is.
    let (settlement, ()) = tokio::join!(settling, tell(client, token, waiting));
    settlement
}

async fn tell(client: &Client, token: &Value, mut reports: mpsc::Receiver<Progress>) {
    let mut numbering = Numbering::default();
    while let Some(report) = reports.recv().await {
        let mut params = json!({"progressToken": token, "progress": numbering.next(&report)});
        if let Some(members) = params.as_object_mut() {
            if let Some(total) = report.total.filter(|total| total.is_finite()) {
                members.insert("total".to_owned(), total.into());
            }
            if let Some(message) = report.message {
                members.insert("message".to_owned(), message.into());
            }
        }
        let message = Message::notice("notifications/progress", Some(params));
        if client.outlet.send(&message).await.is_err() {
            // The client is gone; the call is about to be dropped.
            return;
        }
    }
}
