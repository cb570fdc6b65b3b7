//! One registered tool, ready to be called.

use std::sync::Arc;

use tool_core::{
    Definition, Digest, Identity, Problem, ProblemKind, Resource, Source, Tool, WireName,
};

use crate::validator::Validator;

/// One registered tool: its identity, what is advertised of it, and its schemas, compiled.
#[derive(Clone, Debug)]
pub struct Entry {
    identity: Identity,
    source: Source,
    tool: Tool,
    definition: Definition,
    pub(crate) digest: Digest,
    /// The gate's question is always about this.
    pub(crate) resource: [Resource; 1],
    /// What an answer "always" to it would allow: exactly this tool, if a pattern can say that.
    pub(crate) save: Vec<String>,
    pub(crate) input: Arc<Validator>,
    pub(crate) output: Option<Arc<Validator>>,
    pub(crate) structured: Option<Arc<Validator>>,
    /// Of the data of failures.
    pub(crate) failure: Option<Arc<Validator>>,
}

impl Entry {
    /// Compiles a tool, to be advertised by the name that its identity gives or by another. All that
    /// is wrong with it is reported at once.
    pub(crate) fn compile(
        identity: Identity,
        source: Source,
        tool: Tool,
        advertised: Option<WireName>,
    ) -> Result<Self, Vec<Problem>> {
        let wire_name = advertised.unwrap_or_else(|| WireName::of(&identity));
        let mut problems = tool.problems();
        problems.extend(tool.declarations().problems_under(&identity, &wire_name));
        let mut compiled = |what: &str, schema: &tool_core::Schema| match Validator::compile(schema)
        {
            Ok(validator) => Some(Arc::new(validator)),
            Err(detail) => {
                problems.push(Problem::new(
                    ProblemKind::Schema,
                    format!("{what} schema {detail}"),
                ));
                None
            }
        };
        let input = compiled("input", tool.input());
        let output = tool.output().and_then(|schema| compiled("output", schema));
        let structured = tool
            .advertised_output()
            .filter(|schema| tool.output() != Some(schema))
            .and_then(|schema| compiled("structured output", schema));
        let failure = tool
            .failure()
            .and_then(|schema| compiled("failure", schema));
        let Some(input) = input.filter(|_| problems.is_empty()) else {
            return Err(problems);
        };

        let definition = Definition::new(
            wire_name,
            tool.description(),
            tool.input().clone(),
            tool.advertised_output().cloned(),
            tool.declarations().annotations.clone(),
        );
        Ok(Self {
            digest: definition.digest(),
            save: exactly(identity.to_string()),
            resource: [Resource::Name(identity.to_string())],
            identity,
            source,
            tool,
            definition,
            input,
            output,
            structured,
            failure,
        })
    }

    /// The same tool, advertised under another name.
    pub(crate) fn renamed(&self, name: WireName) -> Self {
        let mut entry = self.clone();
        entry.definition.name = name;
        entry.digest = entry.definition.digest();
        entry
    }

    /// The same tool, described anew.
    pub(crate) fn described(&self, description: String) -> Self {
        let mut entry = self.clone();
        entry.definition.description = description;
        entry.digest = entry.definition.digest();
        entry
    }

    /// What makes this tool the same one across registrations.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Who provides the tool.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The tool itself.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// What models and clients are told of the tool.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The digest of the definition.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The name to call the tool by.
    #[must_use]
    pub fn wire_name(&self) -> &WireName {
        &self.definition.name
    }
}

/// The pattern that matches this name and no other. None if it holds what patterns read as more.
fn exactly(name: String) -> Vec<String> {
    match name.contains(['*', '?']) {
        true => Vec::new(),
        false => vec![name],
    }
}
