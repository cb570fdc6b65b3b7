//! The narrow handle for whoever brings tools.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tool_core::{
    CheckIn, Declarations, Identity, Problem, ProblemKind, Source, Tool, ToolName, WireName,
};

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
        let registration = self.live.insert(self.compile_all(plainly(tools)), true);
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
        self.live.insert(self.compile_all(plainly(tools)), false)
    }

    /// The same, with a name beside a tool that is advertised by another one than its identity
    /// gives: an operator renames a tool, and rules, records and approvals go on by what it is.
    ///
    /// A tool whose advertised name another tool has, or is reserved, is refused, as ever.
    pub fn register_healthy_as<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T, Option<WireName>)>,
    ) -> Registration {
        self.live.insert(self.compile_all(tools), false)
    }

    /// Compiles tools, and refuses one that would meet an earlier one of the same registration.
    fn compile_all<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T, Option<WireName>)>,
    ) -> Vec<Result<Entry, RefusedEntry>> {
        let (mut earlier, mut wire_names) = (HashSet::new(), HashMap::new());
        let mut meets = |entry: &Entry| {
            if !earlier.insert(entry.identity().clone()) {
                return Some("the same name is given twice in one registration".to_owned());
            }
            match wire_names.entry(entry.wire_name().clone()) {
                MapEntry::Vacant(free) => {
                    free.insert(entry.identity().clone());
                    None
                }
                MapEntry::Occupied(taken) => Some(same_wire_name(taken.get())),
            }
        };
        let compile = |(name, tool, advertised): (N, T, Option<WireName>)| {
            let name = name.as_ref();
            let compiled = self.compile(name, tool.into(), advertised);
            let compiled = compiled.and_then(|entry| match meets(&entry) {
                None => Ok(entry),
                Some(detail) => Err(vec![Problem::new(ProblemKind::Conflict, detail)]),
            });
            compiled.map_err(|problems| RefusedEntry::new(name.to_owned(), problems))
        };
        tools.into_iter().map(compile).collect()
    }

    fn compile(
        &self,
        name: &str,
        tool: Tool,
        advertised: Option<WireName>,
    ) -> Result<Entry, Vec<Problem>> {
        let mut problems = Vec::new();
        let name = ToolName::new(name).map_err(|problem| problems.push(problem));
        let called = match (&advertised, &name) {
            (Some(advertised), _) => Some(advertised.as_str()),
            (None, Ok(name)) if self.source.namespace().is_none() => Some(name.as_str()),
            (None, _) => None,
        };
        problems.extend(called.and_then(reserved));
        problems.extend(self.unserved(&tool));
        let compiled = match name {
            Ok(name) => {
                let identity = Identity::new(&self.source, name);
                Entry::compile(identity, self.source.clone(), tool, advertised)
            }
            // What is wrong with the tool itself is reported beside it.
            Err(()) => Err(tool.problems()),
        };
        match compiled {
            Ok(entry) if problems.is_empty() => return Ok(entry),
            Ok(_) => {}
            Err(more) => problems.extend(more),
        }
        Err(problems)
    }

    /// What a tool declares and this registry cannot serve.
    fn unserved(&self, tool: &Tool) -> Option<Problem> {
        let Declarations {
            wants, check_in, ..
        } = tool.declarations();
        if self.live.redeems_artifacts() {
            return None;
        }
        if check_in.as_ref().is_some_and(CheckIn::shows_artifacts) {
            return Some(Problem::new(
                ProblemKind::Declaration,
                "check_in shows an artifact, and the registry has no artifact store; give it one \
                 or leave this out",
            ));
        }
        if wants.is_empty() {
            return None;
        }
        let wants: Vec<_> = wants
            .iter()
            .map(|(argument, kind)| format!("\"{argument}\" as {kind}"))
            .collect();
        Some(Problem::new(
            ProblemKind::Declaration,
            format!(
                "wants {}, and the registry has no artifact store; give it one or leave this out",
                wants.join(", ")
            ),
        ))
    }
}

/// Tools under the names that their identities give.
fn plainly<N, T>(
    tools: impl IntoIterator<Item = (N, T)>,
) -> impl Iterator<Item = (N, T, Option<WireName>)> {
    tools.into_iter().map(|(name, tool)| (name, tool, None))
}

fn reserved(called: &str) -> Option<Problem> {
    (called == RESERVED).then(|| {
        Problem::new(
            ProblemKind::Name,
            format!("\"{RESERVED}\" is reserved for running programs; choose another name"),
        )
    })
}

/// What no tool is called by.
pub(crate) const RESERVED: &str = "execute";
