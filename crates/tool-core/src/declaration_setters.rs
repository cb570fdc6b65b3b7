//! How a tool says what it declares.

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

        /// Gives output that the output schema does not accept all the same, with a warning for
        /// the operator and in the settlement's `meta`: for tools of others, whose schema is a
        /// promise that nobody here can keep. Off by default: such output is a defect. Data of
        /// failures are then not held to their schema either.
        #[must_use]
        pub fn advisory_output(mut $self) -> Self {
            $declarations.advisory_output = true;
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
        ///
        /// Measured is what the tool gave: its text blocks where there are any, else its output, a
        /// text as it is and anything else as compact JSON. What a model projection makes of it is
        /// held to the same ceiling: a projection that says little does not make room for a larger
        /// result, and one that says much of a small result is refused. Media, and what programs
        /// are shown beside it, are not measured.
        #[must_use]
        pub fn ceiling(mut $self, max_chars: std::num::NonZeroUsize) -> Self {
            $declarations.ceiling = Some(max_chars);
            $self
        }

        /// Names arguments that make a result smaller, for when the ceiling or a bound
        /// refuses one.
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
        ///
        /// Cleanups of the call run before its settlement is given out, for ten seconds at the most:
        /// none begins after the first five, and each has five seconds. Those that did not begin run
        /// with the next end of a scope.
        #[must_use]
        pub fn timeout(mut $self, timeout: std::time::Duration) -> Self {
            $declarations.timeout = Some(timeout);
            $self
        }

        /// Sets by which rules arguments are put right that do not fit as they came. Those of the
        /// registry by default.
        #[must_use]
        pub fn repairs(mut $self, repairs: $crate::Repairs) -> Self {
            $declarations.repairs = Some(repairs);
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
