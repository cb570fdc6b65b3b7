//! Stage 6: whoever has to be asked.

use std::pin::pin;

use serde_json::{Map, Value};
use tool_core::{
    Action, CallFacts, CheckIn, Component, Decision, EventKind, Gate, Outcome, Refusal, Ruling,
    Spoken, Stage,
};

use super::passage::Passage;
use super::policy::{self, Open};
use super::suspend::{self, Wait};
use super::{Ended, Run, component, resume};
use crate::within::within;
use crate::{Approvals, Entry};

/// One question, with what it is asked as.
struct Question<'e> {
    gate: Gate,
    action: Action<'e>,
    ruling: Ruling,
    /// The check-in that it is, which may bring a component.
    check_in: Option<&'e CheckIn>,
}

/// Puts what policy left open and what the tool itself asks for, in this order. One answer never
/// stands for another.
pub(super) fn ask<'a>(
    run: &'a Run<'_>,
    entry: &'a Entry,
    input: &'a Spoken<'_>,
    open: Vec<Open<'a>>,
) -> Passage<'a, Result<(), Ended>> {
    run.stage(Stage::Approval);
    if let Some(suspension) = run.gating.suspension()
        && let Err(ended) = resume::still_the_same(suspension, entry, input)
    {
        return Passage::At(Err(ended));
    }
    let declared = entry.tool().declarations();
    if open.is_empty() && declared.approval.is_never() && declared.check_in.is_none() {
        return Passage::At(Ok(()));
    }
    Passage::after(move || put(run, entry, input, open))
}

async fn put(
    run: &Run<'_>,
    entry: &Entry,
    input: &Spoken<'_>,
    open: Vec<Open<'_>>,
) -> Result<(), Ended> {
    for question in questions(run, entry, input, open).await {
        if run.gating.passed().contains(&question.gate) {
            continue;
        }
        let Question {
            gate,
            action,
            ruling,
            check_in,
        } = question;
        let component = match check_in {
            Some(check_in) => component::shown(run, check_in, input.value()).await?,
            None => None,
        };
        match run.gating.approvals {
            Approvals::Inline => {
                run.tell(|| EventKind::Asked(&gate));
                let shown = component.as_ref().map(shown);
                let mut request = policy::request(run, entry, action, Some(input));
                request.metadata = shown.as_ref();
                if !matches!(gate, Gate::Policy { .. }) {
                    // No rule answers it, so that nothing can be saved for the next time.
                    request.save = &[];
                }
                let enforced = run.services.permission.enforce_told(&request, &ruling);
                let (asked, by) = enforced.await;
                run.tell(|| EventKind::Answered {
                    gate: &gate,
                    approved: asked.is_ok(),
                    by: by.as_deref(),
                });
                asked.map_err(|refusal| Outcome::Refused(named(run, &gate, refusal)))?;
            }
            Approvals::Suspend => {
                let wait = Wait {
                    gate,
                    because: ruling.because.into_owned(),
                    component,
                };
                return Err(suspend::suspend(run, entry, input, wait).into());
            }
        }
    }
    Ok(())
}

/// A component, for an approver that can show it.
fn shown(component: &Component) -> Map<String, Value> {
    let component = serde_json::to_value(component).unwrap_or_default();
    Map::from_iter([("component".to_owned(), component)])
}

/// Names the tool when the call as a whole was denied, as the gate's own denial does. What was
/// asked about a capability is named by that.
fn named(run: &Run<'_>, gate: &Gate, refusal: Refusal) -> Refusal {
    let whole = match gate {
        Gate::Policy { action } => action == Action::CALL.as_str(),
        _ => true,
    };
    match refusal {
        Refusal::Denied(mut denial) if whole => {
            run.name().clone_into(&mut denial.action);
            Refusal::Denied(denial)
        }
        other => other,
    }
}

async fn questions<'e>(
    run: &Run<'_>,
    entry: &'e Entry,
    input: &Spoken<'_>,
    open: Vec<Open<'e>>,
) -> Vec<Question<'e>> {
    let mut questions: Vec<_> = open
        .into_iter()
        .map(|Open { action, ruling }| Question {
            gate: Gate::Policy {
                action: action.as_str().to_owned(),
            },
            action,
            ruling,
            check_in: None,
        })
        .collect();
    let declared = entry.tool().declarations();
    let facts = || CallFacts::new(run.facts.clone(), run.id().cloned());
    // A predicate that does not come to an end says yes.
    let holds = pin!(declared.approval.holds(input.value(), facts));
    let asks = within(run.services.gate_timeout, holds).await;
    if asks.unwrap_or(true) {
        questions.push(Question {
            gate: Gate::Approval,
            action: Action::new("approve"),
            ruling: Ruling::new(Decision::Ask, "the tool needs approval"),
            check_in: None,
        });
    }
    if let Some(check_in) = declared
        .check_in
        .as_ref()
        .filter(|check_in| check_in.trips(input.value()))
    {
        questions.push(Question {
            gate: Gate::CheckIn,
            action: Action::new("check_in"),
            ruling: Ruling::new(Decision::Ask, "the tool checks in before it acts"),
            check_in: Some(check_in),
        });
    }
    questions
}
