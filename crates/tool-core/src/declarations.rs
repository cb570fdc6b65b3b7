//! What a tool declares of itself.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::Value;

use crate::{
    Action, Annotations, ArtifactKind, Bounding, Capability, CheckIn, Columns, Concurrency,
    CredentialNeed, FailureMode, Identity, NeedsApproval, Owner, Problem, ProblemKind, Repairs,
    RepeatedWhen, ResultClass, Schema, ToolKind, WireName,
};

/// Everything that a tool declares of itself beside its schemas. An omitted one changes nothing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Declarations {
    /// Hints about behaviour.
    pub annotations: Annotations,
    /// What the tool touches. `None` says nothing, an empty list says "nothing".
    pub capabilities: Option<Vec<Capability>>,
    /// Arguments that name artifacts, with the kind that each takes.
    pub wants: BTreeMap<String, ArtifactKind>,
    /// The credential that the tool needs.
    pub needs: Option<CredentialNeed>,
    /// The most characters of a result, and of what a model projection makes of it.
    pub ceiling: Option<NonZeroUsize>,
    /// Arguments that make a result smaller, named when the ceiling or a bound refuses one.
    pub narrow_by: Option<Vec<String>>,
    /// Which calls need a person's leave.
    pub approval: NeedsApproval,
    /// Which calls check in with a person, and with what component.
    pub check_in: Option<CheckIn>,
    /// What sort of answer the tool gives.
    pub result_class: Option<ResultClass>,
    /// The kind under which a result is kept as an artifact.
    pub result_kind: Option<ArtifactKind>,
    /// What the columns of tabular results hold.
    pub result_columns: Option<Columns>,
    /// Who answers for the tool.
    pub owner: Option<Owner>,
    /// The tools whose results its arguments come from.
    pub arguments_from: Option<Vec<String>>,
    /// The tools that it calls while it runs.
    pub composed_of: Option<Vec<String>>,
    /// Whether other steps wait for this one. `None` says nothing, which is not `Some(false)`.
    pub gates: Option<bool>,
    /// When two calls of it are the same call again.
    pub repeated_when: RepeatedWhen,
    /// How its failures reach a caller that takes a settlement as a `Result`.
    pub failure_mode: FailureMode,
    /// Which calls may run beside this one.
    pub concurrency: Concurrency,
    /// How long the handler of a call may run.
    pub timeout: Option<Duration>,
    /// By which rules its arguments are put right. `None` takes those of the registry.
    pub repairs: Option<Repairs>,
    /// How model-facing text is bounded.
    pub bounding: Bounding,
    /// The tool formulates its own permission requests while it runs.
    pub asserts: bool,
    /// Output that the output schema does not accept is given with a warning.
    pub advisory_output: bool,
}

impl Declarations {
    /// What is wrong with the declarations once it is known which tool it is and by which name it is
    /// called. A tool is named by either; the authored name alone is that of a tool of the host.
    #[must_use]
    pub fn problems_under(&self, identity: &Identity, wire_name: &WireName) -> Vec<Problem> {
        let identity = identity.to_string();
        let itself = |other: &String| *other == identity || other == wire_name.as_str();
        let lists = [
            ("arguments_from", &self.arguments_from),
            ("composed_of", &self.composed_of),
        ];
        lists
            .into_iter()
            .filter(|(_, names)| names.iter().flatten().any(itself))
            .map(|(field, _)| {
                Problem::new(
                    ProblemKind::Declaration,
                    format!("{field} names the tool itself; name others or leave it out"),
                )
            })
            .collect()
    }

    /// What cannot be honoured by a tool of this kind: one that runs nothing here can neither use
    /// a credential nor ask, and nothing of it can be limited.
    pub(crate) fn problems_of_kind(&self, kind: &ToolKind) -> Vec<Problem> {
        let elsewhere = match kind {
            ToolKind::External => "outside",
            ToolKind::Provider(defined) if !defined.handled_here => "at its provider",
            _ => return Vec::new(),
        };
        let declared = [
            ("asserts_permission", self.asserts),
            ("needs", self.needs.is_some()),
            ("timeout", self.timeout.is_some()),
            ("concurrency", self.concurrency != Concurrency::Parallel),
            ("composed_of", self.composed_of.is_some()),
        ];
        declared
            .into_iter()
            .filter(|(_, declared)| *declared)
            .map(|(field, _)| {
                Problem::new(
                    ProblemKind::Declaration,
                    format!(
                        "{field} cannot be honoured by a tool that runs {elsewhere}; leave it out"
                    ),
                )
            })
            .collect()
    }

    /// What passes by the codec of a tool that has one of its own, whose type it would not be.
    pub(crate) fn problems_by_codec(&self) -> Vec<Problem> {
        let check_in = self.check_in.as_ref();
        let declared = [
            ("needs_approval", self.approval.reads_by_serde()),
            ("check_in", check_in.is_some_and(CheckIn::reads_by_serde)),
        ];
        declared
            .into_iter()
            .filter(|(_, by_serde)| *by_serde)
            .map(|(field, _)| {
                Problem::new(
                    ProblemKind::Declaration,
                    format!(
                        "{field} reads the arguments by serde, and the tool has a codec of its own; \
                         use {field}_when on the typed tool, take a serde_json::Value, or leave it out"
                    ),
                )
            })
            .collect()
    }

    pub(crate) fn problems(&self, input: &Schema) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report =
            |detail: String| problems.push(Problem::new(ProblemKind::Declaration, detail));
        let properties = input.as_value().get("properties");

        for (argument, kind) in &self.wants {
            let declared = properties.and_then(|properties| properties.get(argument));
            let Some(declared) = declared else {
                report(format!(
                    "wants \"{argument}\" as {kind}, which the input schema does not offer"
                ));
                continue;
            };
            if declared
                .get("type")
                .is_some_and(|kind| !takes_strings(kind))
            {
                report(format!(
                    "wants \"{argument}\" as {kind}, but its schema takes no string"
                ));
            }
        }
        let lists = [
            ("narrow_by", &self.narrow_by, "suggest nothing"),
            ("arguments_from", &self.arguments_from, "say nothing"),
            ("composed_of", &self.composed_of, "say nothing"),
        ];
        for (field, names, nothing) in lists {
            let Some(names) = names else { continue };
            if names.is_empty() {
                report(format!("{field} is empty; leave it out to {nothing}"));
            } else if names.iter().any(|name| name.trim().is_empty()) {
                report(format!(
                    "{field} holds a blank name; leave it out to {nothing}"
                ));
            }
        }
        for capability in self.capabilities.iter().flatten() {
            match capability.as_str() {
                // One answer would stand for two questions.
                word if word == Action::CALL.as_str() => report(format!(
                    "capabilities hold \"{word}\", which stands for the call itself; use another word"
                )),
                word if word.trim().is_empty() => {
                    report("capabilities hold a blank word; leave it out to say nothing".to_owned())
                }
                _ => {}
            }
        }
        if let Some(owner) = &self.owner
            && (owner.kind.trim().is_empty() || owner.id.trim().is_empty())
        {
            report("owner has a blank half; leave it out to say nothing".to_owned());
        }
        if self.result_columns.as_ref().is_some_and(Columns::is_empty) {
            report("result_columns is empty; leave it out to judge nothing".to_owned());
        }
        if let Some(component) = self.check_in.as_ref().and_then(CheckIn::asks_with)
            && component.id.trim().is_empty()
        {
            report(
                "check_in has a component with a blank id; leave it out to ask in prose".to_owned(),
            );
        }
        if let Some(check_in) = &self.check_in {
            let component = check_in.asks_with();
            let named = component.and_then(|component| component.props_ref.as_ref());
            if named.is_some_and(|reference| reference.trim().is_empty()) {
                report(
                    "check_in has a component with a blank props_ref; leave it out to show no artifact"
                        .to_owned(),
                );
            }
            if let Some(argument) = check_in.takes_props_from() {
                let declared = properties.and_then(|properties| properties.get(argument));
                let text =
                    declared.is_some_and(|declared| declared.get("type").is_none_or(takes_strings));
                if component.is_none() {
                    report(format!(
                        "check_in takes props from \"{argument}\" without a component; give one or leave it out"
                    ));
                } else if !text {
                    report(format!(
                        "check_in takes props from \"{argument}\", which the input schema does not offer as a string; \
                         name an argument that it does or leave it out"
                    ));
                }
            }
        }
        let refuses = self.ceiling.is_some() || matches!(self.bounding, Bounding::Refuse(_));
        if self.narrow_by.is_some() && !refuses {
            report(
                "narrow_by is given without a ceiling or a bound that refuses; give one or leave it out"
                    .to_owned(),
            );
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            report("timeout is zero; leave it out for no timeout".to_owned());
        }
        if let Concurrency::ByKey(pointer) = &self.concurrency
            && !pointer.is_empty()
            && !pointer.starts_with('/')
        {
            report(format!(
                "concurrency key \"{pointer}\" is no JSON pointer; begin it with \"/\""
            ));
        }
        problems
    }
}

/// Whether a `type` takes strings, alone or beside others, as that of an optional text does.
fn takes_strings(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
        kind => kind == "string",
    }
}
