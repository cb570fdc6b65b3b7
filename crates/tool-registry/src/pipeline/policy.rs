//! Stage 4: the gate, and one question for each capability that policy governs.

use std::pin::pin;

use tool_core::{
    Action, Capability, Decision, Denial, EventKind, Outcome, Refusal, Request, Ruling, Spoken,
    Stage,
};

use super::parse::Parsed;
use super::passage::Passage;
use super::{Ended, Run};
use crate::Entry;
use crate::within::within;

/// Questions that policy left open, to be asked in the approval stage.
pub(super) struct Open<'e> {
    pub(super) action: Action<'e>,
    pub(super) ruling: Ruling,
}

/// Asks policy about the call as a whole, then about each declared capability that it governs, in
/// the order of declaration. The first denial settles the call.
pub(super) fn rule<'a, 'e: 'a>(
    run: &'a Run<'_>,
    entry: &'e Entry,
    parsed: &'a Parsed<'_>,
) -> Passage<'a, Result<Vec<Open<'e>>, Ended>> {
    run.stage(Stage::Policy);
    let mut gate = Gate {
        run,
        entry,
        arguments: parsed.spoken.as_ref().ok(),
        open: Vec::new(),
    };
    let mut questions = gate.questions();
    while let Some(capability) = questions.next() {
        let request = request(run, entry, action(capability), gate.arguments);
        let permission = &run.services.permission;
        let taken = permission.decide_at_once(&request, |ruling| gate.take(capability, ruling));
        match taken {
            Some(Ok(())) => {}
            Some(Err(ended)) => return Passage::At(Err(ended)),
            None => return Passage::after(move || gate.wait(capability, questions)),
        }
    }
    Passage::At(Ok(gate.open))
}

/// The questions of one call.
struct Gate<'a, 'e, 'r, 't> {
    run: &'a Run<'r>,
    entry: &'e Entry,
    arguments: Option<&'a Spoken<'t>>,
    open: Vec<Open<'e>>,
}

impl<'a, 'e: 'a> Gate<'a, 'e, '_, '_> {
    /// The call as a whole, then what policy governs of what the tool can.
    fn questions(&self) -> impl Iterator<Item = Option<&'e Capability>> + Send + use<'a, 'e> {
        let permission = &self.run.services.permission;
        let declared = self.entry.tool().declarations().capabilities.as_deref();
        let governed = declared.unwrap_or_default().iter();
        let governed = governed.filter(|capability| permission.governs(capability));
        std::iter::once(None).chain(governed.map(Some))
    }

    fn ask(&self, capability: Option<&'e Capability>) -> Request<'_> {
        request(self.run, self.entry, action(capability), self.arguments)
    }

    /// Asks the question that policy cannot answer at once, and the ones behind it.
    async fn wait(
        mut self,
        first: Option<&'e Capability>,
        others: impl Iterator<Item = Option<&'e Capability>>,
    ) -> Result<Vec<Open<'e>>, Ended> {
        let services = self.run.services;
        for capability in std::iter::once(first).chain(others) {
            let ruling = {
                let request = self.ask(capability);
                let deciding = pin!(services.permission.decide(&request));
                within(services.gate_timeout, deciding).await
            };
            let ruling = ruling.unwrap_or_else(|| {
                Ruling::new(Decision::Deny, "the policy took too long to decide")
            });
            self.take(capability, &ruling)?;
        }
        Ok(self.open)
    }

    /// Does as a ruling says.
    #[inline]
    fn take(&mut self, capability: Option<&'e Capability>, ruling: &Ruling) -> Result<(), Ended> {
        self.run.tell(|| EventKind::Ruled { capability, ruling });
        match ruling.decision {
            Decision::Allow => {}
            Decision::Ask => self.open.push(Open {
                action: action(capability),
                ruling: ruling.clone(),
            }),
            Decision::Deny => {
                let action = denied_action(self.run, capability);
                let denial =
                    Denial::new(action, ruling.because.clone()).reason(ruling.reason.clone());
                return Err(Outcome::Refused(Refusal::Denied(denial)).into());
            }
        }
        Ok(())
    }
}

fn action(capability: Option<&Capability>) -> Action<'_> {
    match capability {
        None => Action::CALL,
        Some(capability) => Action::new(Capability::as_str(capability)),
    }
}

/// The gate's question, as stage 4 puts it to policy and stage 6 to a person.
pub(super) fn request<'r>(
    run: &'r Run<'_>,
    entry: &'r Entry,
    action: Action<'r>,
    arguments: Option<&'r Spoken<'r>>,
) -> Request<'r> {
    let mut request = Request::new(action, &entry.resource, run.facts);
    request.asserts = request.action == Action::CALL && entry.tool().declarations().asserts;
    request.call = run.id();
    request.tool = Some(entry.identity());
    request.source = Some(entry.source());
    request.definition = Some(&entry.digest);
    request.save = &entry.save;
    request.set_spoken(arguments);
    request
}

fn denied_action(run: &Run<'_>, capability: Option<&Capability>) -> String {
    match capability {
        None => run.name().to_owned(),
        Some(capability) => capability.to_string(),
    }
}
