//! The parts of a tool: reading them, and replacing them on a clone.

use std::sync::Arc;

use serde_json::Value;

use crate::declaration_setters::declaration_setters;
use crate::projection;
use crate::tool::{Inner, blank};
use crate::{
    Content, Declarations, Executor, Problem, ProblemKind, ProjectionError, Schema, Tool, ToolKind,
    TypedTool, Validation,
};

impl Tool {
    /// Declares the schema of the output. Output that does not fit is never a success.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        let inner = self.inner_mut();
        match Schema::new(schema) {
            Ok(schema) => inner.output = Some(schema),
            Err(error) => inner.problems.push(Problem::new(
                ProblemKind::Schema,
                format!("output: {error}"),
            )),
        }
        self
    }

    /// Declares the schema of the data that failures carry. A failure whose data do not fit is a
    /// defect of the result; one without data is not held to it.
    #[must_use]
    pub fn failure_schema(mut self, schema: Value) -> Self {
        self.inner_mut().declare_failure(schema);
        self
    }

    /// Replaces the description.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        let inner = self.inner_mut();
        inner.description = description.into();
        inner
            .problems
            .retain(|problem| problem.kind() != ProblemKind::Description);
        inner.problems.extend(blank(&inner.description));
        self
    }

    /// Replaces the input schema of a tool whose schemas are known at run time only.
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        let inner = self.inner_mut();
        if matches!(inner.kind, ToolKind::Typed) {
            inner.problems.push(Problem::new(
                ProblemKind::Schema,
                "input schema of a typed tool follows its type and cannot be replaced",
            ));
            return self;
        }
        match Schema::input(schema) {
            Ok(schema) => inner.input = schema,
            Err(error) => inner
                .problems
                .push(Problem::new(ProblemKind::Schema, format!("input: {error}"))),
        }
        self
    }

    /// Sets whether arguments are validated against the input schema. They are by default.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.inner_mut().validation = validation;
        self
    }

    /// Shows the model these blocks in place of the output, from the validated input and the
    /// encoded output.
    #[must_use]
    pub fn model<C>(mut self, project: impl Fn(Value, Value) -> C + Send + Sync + 'static) -> Self
    where
        C: IntoIterator<Item = Content>,
    {
        let value = |value: &Value| Ok(value.clone());
        self.inner_mut().model = Some(projection::model(value, value, project));
        self
    }

    declaration_setters!(self => self.inner_mut().declarations);

    /// What the tool does, for the model.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The schema of the arguments.
    #[must_use]
    pub fn input(&self) -> &Schema {
        &self.0.input
    }

    /// The schema of the whole output.
    #[must_use]
    pub fn output(&self) -> Option<&Schema> {
        self.0.output.as_ref()
    }

    /// The schema of what programs are shown: that of the structured projection, else of the
    /// output.
    #[must_use]
    pub fn advertised_output(&self) -> Option<&Schema> {
        if self.0.structured.is_some() {
            self.0.structured_schema.as_ref()
        } else {
            self.0.output.as_ref()
        }
    }

    /// What kind it is.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> &ToolKind {
        &self.0.kind
    }

    /// Whether arguments are validated against the input schema.
    #[inline]
    #[must_use]
    pub fn validates(&self) -> Validation {
        self.0.validation
    }

    /// The schema of the data of failures, where the tool declares it. They are held to it.
    #[must_use]
    pub fn failure(&self) -> Option<&Schema> {
        self.0.failure_schema.as_ref()
    }

    /// What the tool declares of itself.
    #[inline]
    #[must_use]
    pub fn declarations(&self) -> &Declarations {
        &self.0.declarations
    }

    /// The one thing that the tool runs.
    #[inline]
    #[must_use]
    pub fn executor(&self) -> &Arc<dyn Executor> {
        &self.0.executor
    }

    /// Everything that is wrong with the definition; empty for one that can be registered.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.0.problems.clone();
        problems.extend(self.0.declarations.problems(&self.0.input));
        problems.extend(self.0.declarations.problems_of_kind(&self.0.kind));
        if self.0.own_codec {
            problems.extend(self.0.declarations.problems_by_codec());
        }
        problems
    }

    /// Whether another value is this very tool: a clone of which nothing was replaced.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether anything but the output itself is shown to programs or to the model.
    #[inline]
    #[must_use]
    pub fn has_projection(&self) -> bool {
        self.0.structured.is_some() || self.0.model.is_some()
    }

    /// Projects an encoded output for programs. `None` where the tool has no such projection.
    ///
    /// # Errors
    /// [`ProjectionError`] when the encoded value does not read back.
    #[must_use]
    pub fn project_structured(&self, output: &Value) -> Option<Result<Value, ProjectionError>> {
        self.0.structured.as_ref().map(|project| project(output))
    }

    /// Projects validated input and encoded output for the model. `None` where the tool has no
    /// such projection.
    ///
    /// # Errors
    /// [`ProjectionError`] when an encoded value does not read back.
    #[must_use]
    pub fn project_model(
        &self,
        input: &Value,
        output: &Value,
    ) -> Option<Result<Vec<Content>, ProjectionError>> {
        self.0.model.as_ref().map(|project| project(input, output))
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }
}

impl Inner {
    pub(crate) fn declare_failure(&mut self, schema: Value) {
        match Schema::new(schema) {
            Ok(schema) => self.failure_schema = Some(schema),
            Err(error) => self.problems.push(Problem::new(
                ProblemKind::Schema,
                format!("failure: {error}"),
            )),
        }
    }
}

impl<I, O, D, E> TypedTool<I, O, D, E> {
    declaration_setters!(self => self.tool.inner_mut().declarations);
}
