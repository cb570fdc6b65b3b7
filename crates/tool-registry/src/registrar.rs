//! The narrow handle for whoever brings tools.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::Arc;

use tool_core::{Identity, Problem, ProblemKind, Source, Tool, ToolName};

use crate::catalog::{Live, same_wire_name};
use crate::{Entry, RefusedEntry, Registration, RegistrationError};

/// Registers tools of one source. A plugin is given this and not the registry: it can neither
/// list nor call.
#[derive(Clone, Debug)]
pub struct Registrar {
    live: Arc<Live>,
    source: Source,
}

impl Registrar {
    pub(crate) fn new(live: Arc<Live>, source: Source) -> Self {
        Self { live, source }
    }

    /// Whose tools it registers.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Registers tools, all or none.
    ///
    /// A tool whose identity is registered already overlays it: it is the one that is called until
    /// its registration ends, and then the one below is back.
    ///
    /// # Errors
    /// [`RegistrationError`] with every entry that was refused and everything that is wrong with
    /// each; nothing is registered then.
    pub fn register<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Registration, RegistrationError> {
        let registration = self.live.insert(self.compile_all(tools), true);
        match registration.refused() {
            [] => Ok(registration),
            refused => Err(RegistrationError::new(refused.to_vec())),
        }
    }

    /// Registers the tools that can be registered and reports the others.
    pub fn register_healthy<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T)>,
    ) -> Registration {
        self.live.insert(self.compile_all(tools), false)
    }

    /// Compiles tools, and refuses one that would meet an earlier one of the same registration.
    fn compile_all<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T)>,
    ) -> Vec<Result<Entry, RefusedEntry>> {
        let mut earlier = HashMap::new();
        let compile = |(name, tool): (N, T)| {
            let name = name.as_ref();
            let compiled = self.compile(name, tool.into()).and_then(|entry| {
                let known = earlier.entry(entry.wire_name().clone());
                match known {
                    MapEntry::Vacant(free) => {
                        free.insert(entry.identity().clone());
                        Ok(entry)
                    }
                    MapEntry::Occupied(taken) => {
                        let detail = if taken.get() == entry.identity() {
                            "the same name is given twice in one registration".to_owned()
                        } else {
                            same_wire_name(taken.get())
                        };
                        Err(vec![Problem::new(ProblemKind::Conflict, detail)])
                    }
                }
            });
            compiled.map_err(|problems| RefusedEntry::new(name.to_owned(), problems))
        };
        tools.into_iter().map(compile).collect()
    }

    fn compile(&self, name: &str, tool: Tool) -> Result<Entry, Vec<Problem>> {
        let name = match ToolName::new(name) {
            Ok(name) => name,
            Err(problem) => {
                // What is wrong with the tool itself is reported beside it.
                return Err(std::iter::once(problem).chain(tool.problems()).collect());
            }
        };
        if self.source.namespace().is_none() && name.as_str() == RESERVED {
            let problem = Problem::new(
                ProblemKind::Name,
                format!("\"{RESERVED}\" is reserved for running programs; choose another name"),
            );
            return Err(std::iter::once(problem).chain(tool.problems()).collect());
        }
        Entry::compile(Identity::new(&self.source, name), self.source.clone(), tool)
    }
}

/// Not to be registered without a namespace.
const RESERVED: &str = "execute";
