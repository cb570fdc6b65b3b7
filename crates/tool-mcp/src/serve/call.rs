//! One call of a client.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tool_core::{Call, Outcome, Progress, Refusal, Settlement, Suspension, Verdict};
use tool_registry::{Approvals, Door, Settling};

use super::calling_client::CallingClient;
use super::client::Client;
use super::numbering::Numbering;
use super::params::Params;
use super::request_state::{Bound, RequestState};
use super::rounds::{self, Answered};
use super::server::Served;
use super::{Ask, approval, result, turned_away};
use crate::wire::{Id, Message, RpcError};

/// Reports that may wait for the client. A tool that reports faster loses the newest.
const WAITING_REPORTS: usize = 64;
/// Questions of one call to a client that is asked while the call waits. A service that is never
/// content must not ask for ever.
const MOST_QUESTIONS: usize = 16;
/// Who has decided, for whoever receives events. Which client it is, its principal says.
const CLIENT: &str = "client";

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
    let (mut responses, state) = match begin(served, client, &mut params) {
        Ok(begun) => begun,
        Err(turned) => {
            let (error, refusal) = *turned;
            let called = (id, "tools/call");
            turned_away::refuse(served, &client.facts, called, Some(&params), refusal);
            return Err(error);
        }
    };
    let meta = params.meta.carried.take();
    let bound = bound(client, &params)?;
    let mut given = state.answers;
    let word = match &state.suspension {
        Some(_) => responses.remove(approval::KEY),
        None => None,
    };
    given.extend(responses);

    client.held.begin(&client.facts);
    let calling = CallingClient::new(client.clone(), meta, given, state.kept);
    let snapshot = served.registry.request(&client.facts);
    // Whoever cannot be asked leaves it to the registry's own approver.
    let asked_of = |can: bool| match served.asks_clients && can {
        true => Approvals::Suspend,
        false => Approvals::Inline,
    };
    let questions_go = |settling: Settling| {
        settling
            .approvals(asked_of(client.capabilities.forms))
            .consent(asked_of(client.capabilities.pages))
    };
    let fresh = || {
        let call = Call::new(bound.name, bound.arguments).id(id.to_string());
        questions_go(snapshot.settle(call, &client.facts))
    };
    let resumed = |suspension: Suspension, verdict| {
        questions_go(snapshot.resume(suspension, verdict, &client.facts))
    };
    let question = |suspension: &Suspension| {
        approval::question(suspension).filter(|ask| calling.can(ask.kind()))
    };
    let mut settling = match state.suspension {
        None => fresh(),
        Some(suspension) => {
            let word = word.and_then(|word| approval::verdict(&suspension.gate, &word));
            match (word, question(&suspension)) {
                (Some(verdict), _) => resumed(*suspension, verdict).decided_by(CLIENT),
                (None, Some(ask)) => return to_decide(served, &calling, (suspension, ask), &bound),
                // An address for consent does not travel, and is asked for anew.
                (None, None) => fresh(),
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
        questions += 1;
        let ask = question(&suspension).filter(|_| questions <= MOST_QUESTIONS);
        let Some(ask) = ask else {
            return Ok(Answered::Complete(result::refused(format!(
                "{}: {} is needed, which this client cannot be asked for",
                suspension.tool, suspension.gate,
            ))));
        };
        if client.is_stateless() {
            return to_decide(served, &calling, (suspension, ask), &bound);
        }
        let word = calling.ask(approval::KEY, ask).await.ok();
        let verdict = word.and_then(|word| approval::verdict(&suspension.gate, &word));
        settling = match verdict {
            Some(verdict) => resumed(*suspension, verdict).decided_by(CLIENT),
            // An error is nobody's word.
            None => resumed(*suspension, Verdict::Decline { note: None }),
        };
    }
}

/// What a call begins with: the answers that come with it, and what it goes on from.
type Begun = (Map<String, Value>, RequestState);

/// Reads with what a call begins, or why it does not.
fn begin(
    served: &Served,
    client: &Client,
    params: &mut Params,
) -> Result<Begun, Box<(RpcError, Refusal)>> {
    let misfit = |error: RpcError| {
        let because = error.message.clone();
        Box::new((error, Refusal::Request { because }))
    };
    let responses = params.responses().map_err(misfit)?;
    let bound = bound(client, params).map_err(misfit)?;
    let state = rounds::open(served, client, params.request_state.as_deref(), &bound);
    let state = state.map_err(|fault| Box::new((rounds::unopened(), Refusal::Resume { fault })))?;
    Ok((responses, state))
}

fn bound<'a>(client: &'a Client, params: &'a Params) -> Result<Bound<'a>, RpcError> {
    Ok(Bound {
        method: "tools/call",
        name: params.needed_name()?,
        arguments: params.arguments_text()?,
        facts: &client.facts,
    })
}

/// Asks for the decision on a call that waits, with the call itself in the state.
fn to_decide(
    served: &Served,
    calling: &CallingClient,
    (suspension, ask): (Box<Suspension>, Ask),
    bound: &Bound<'_>,
) -> Result<Answered, RpcError> {
    let state = RequestState {
        suspension: Some(suspension),
        ..calling.state()
    };
    rounds::ask(served, vec![(approval::KEY.to_owned(), ask)], state, bound)
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
