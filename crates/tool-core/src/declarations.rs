//! What a tool declares of itself.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::Value;

use crate::{
    Annotations, ArtifactKind, Bounding, Capability, CheckIn, Columns, Concurrency, CredentialNeed,
    FailureMode, NeedsApproval, Owner, Problem, ProblemKind, RepeatedWhen, ResultClass, Schema,
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
    /// The most characters that a model may be shown of a result.
    pub ceiling: Option<NonZeroUsize>,
    /// Arguments that make a result smaller, named when the ceiling refuses one.
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
    /// How model-facing text is bounded.
    pub bounding: Bounding,
    /// The tool formulates its own permission requests while it runs.
    pub asserts: bool,
}

impl Declarations {
    /// What is wrong with the declarations once the tool has a name.
    #[must_use]
    pub fn problems_under(&self, name: &str) -> Vec<Problem> {
        let lists = [
            ("arguments_from", &self.arguments_from),
            ("composed_of", &self.composed_of),
        ];
        lists
            .into_iter()
            .filter(|(_, names)| names.iter().flatten().any(|other| other == name))
            .map(|(field, _)| {
                Problem::new(
                    ProblemKind::Declaration,
                    format!("{field} names the tool itself; name others or leave it out"),
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
        if self.narrow_by.is_some() && self.ceiling.is_none() {
            report(
                "narrow_by is given without a ceiling; give a ceiling or leave it out".to_owned(),
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

/// Writes the setters once, for tools with and without types.
macro_rules! declaration_setters {
    ($self:ident => $declarations:expr) => {
        /// Says that the tool changes nothing. Off by default.
        #[must_use]
        pub fn read_only(mut $self) -> Self {
            let annotations = &mut $declarations.annotations;
            annotations.read_only = true;
            annotations.destructive = false;
            $self
        }

        /// Replaces all hints.
        #[must_use]
        pub fn annotations(mut $self, annotations: $crate::Annotations) -> Self {
            $declarations.annotations = annotations;
            $self
        }

        /// Gives the tool a name for people.
        #[must_use]
        pub fn title(mut $self, title: impl Into<String>) -> Self {
            $declarations.annotations.title = Some(title.into());
            $self
        }

        /// Says what the tool touches; an empty list says "nothing". Says nothing by default.
        #[must_use]
        pub fn capabilities(
            mut $self,
            capabilities: impl IntoIterator<Item = $crate::Capability>,
        ) -> Self {
            $declarations.capabilities = Some(capabilities.into_iter().collect());
            $self
        }

        /// Says that a string argument names an artifact of this kind. The handler is given the
        /// artifact's data in its place.
        #[must_use]
        pub fn wants(mut $self, argument: impl Into<String>, kind: $crate::ArtifactKind) -> Self {
            $declarations.wants.insert(argument.into(), kind);
            $self
        }

        /// Says that the tool needs a credential; it is acquired last before the tool runs.
        #[must_use]
        pub fn needs(mut $self, need: $crate::CredentialNeed) -> Self {
            $declarations.needs = Some(need);
            $self
        }

        /// Refuses results of more characters than that, keeping them out of every channel.
        /// Characters are Unicode scalar values. No ceiling by default.
        #[must_use]
        pub fn ceiling(mut $self, max_chars: std::num::NonZeroUsize) -> Self {
            $declarations.ceiling = Some(max_chars);
            $self
        }

        /// Names arguments that make a result smaller, for when the ceiling refuses one.
        #[must_use]
        pub fn narrow_by<N: Into<String>>(mut $self, names: impl IntoIterator<Item = N>) -> Self {
            $declarations.narrow_by = Some(names.into_iter().map(Into::into).collect());
            $self
        }

        /// Sets which calls need a person's leave, in place of what was set before. None by
        /// default.
        #[must_use]
        pub fn needs_approval(mut $self, approval: impl Into<$crate::NeedsApproval>) -> Self {
            $declarations.approval = approval.into();
            $self
        }

        /// Sets which calls check in with a person before they act. None by default.
        #[must_use]
        pub fn check_in(mut $self, check_in: $crate::CheckIn) -> Self {
            $declarations.check_in = Some(check_in);
            $self
        }

        /// Says what sort of answer the tool gives.
        #[must_use]
        pub fn result_class(mut $self, class: $crate::ResultClass) -> Self {
            $declarations.result_class = Some(class);
            $self
        }

        /// Says under which kind a result is kept as an artifact.
        #[must_use]
        pub fn result_kind(mut $self, kind: $crate::ArtifactKind) -> Self {
            $declarations.result_kind = Some(kind);
            $self
        }

        /// Says what the columns of tabular results hold. Judged where the host turns it on.
        #[must_use]
        pub fn result_columns<N: Into<String>>(
            mut $self,
            columns: impl IntoIterator<Item = (N, $crate::Column)>,
        ) -> Self {
            let columns = columns.into_iter().map(|(name, column)| (name.into(), column)).collect();
            $declarations.result_columns = Some(columns);
            $self
        }

        /// Says who answers for the tool.
        #[must_use]
        pub fn owner(mut $self, owner: $crate::Owner) -> Self {
            $declarations.owner = Some(owner);
            $self
        }

        /// Says from which tools' results the arguments come.
        #[must_use]
        pub fn arguments_from<N: Into<String>>(
            mut $self,
            tools: impl IntoIterator<Item = N>,
        ) -> Self {
            $declarations.arguments_from = Some(tools.into_iter().map(Into::into).collect());
            $self
        }

        /// Says which tools it calls while it runs.
        #[must_use]
        pub fn composed_of<N: Into<String>>(mut $self, tools: impl IntoIterator<Item = N>) -> Self {
            $declarations.composed_of = Some(tools.into_iter().map(Into::into).collect());
            $self
        }

        /// Says whether other steps wait for this one. Saying `false` is not the same as saying
        /// nothing.
        #[must_use]
        pub fn gates(mut $self, gates: bool) -> Self {
            $declarations.gates = Some(gates);
            $self
        }

        /// Sets when two calls are the same call again.
        #[must_use]
        pub fn repeated_when(mut $self, repeated: $crate::RepeatedWhen) -> Self {
            $declarations.repeated_when = repeated;
            $self
        }

        /// Sets how failures reach a caller that takes a settlement as a `Result`.
        #[must_use]
        pub fn failure_mode(mut $self, mode: $crate::FailureMode) -> Self {
            $declarations.failure_mode = mode;
            $self
        }

        /// Sets which calls of a batch may run beside this one. Parallel by default.
        #[must_use]
        pub fn concurrency(mut $self, concurrency: $crate::Concurrency) -> Self {
            $declarations.concurrency = concurrency;
            $self
        }

        /// Ends a call whose handler runs longer than that, whether or not the handler heeds it.
        /// None by default. A call with a limit must be awaited inside a tokio runtime with time
        /// enabled.
        #[must_use]
        pub fn timeout(mut $self, timeout: std::time::Duration) -> Self {
            $declarations.timeout = Some(timeout);
            $self
        }

        /// Sets how model-facing text is bounded. The runtime's bound by default.
        #[must_use]
        pub fn bounding(mut $self, bounding: $crate::Bounding) -> Self {
            $declarations.bounding = bounding;
            $self
        }

        /// Says that the handler asks for permission itself, with
        /// [`Permission::assert`]($crate::Permission::assert), so that a policy without a rule for
        /// the tool leaves the question to it. A call that completes without having asked is a
        /// defect. Off by default.
        #[must_use]
        pub fn asserts_permission(mut $self) -> Self {
            $declarations.asserts = true;
            $self
        }
    };
}

pub(crate) use declaration_setters;

/// The arguments as a value, for reading a concurrency key.
impl Concurrency {
    /// The key of a call of this class: calls with equal keys never run beside each other.
    #[must_use]
    pub fn key<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        match self {
            Self::ByKey(pointer) => arguments.pointer(pointer),
            Self::Parallel | Self::Exclusive => None,
        }
    }
}
