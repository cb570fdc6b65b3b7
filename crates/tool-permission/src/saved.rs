//! Saved approvals, arranged for looking up.

use std::collections::HashMap;
use std::sync::Arc;

use tool_core::Request;

use crate::approval::binding;
use crate::index::Index;
use crate::subject::Subject;
use crate::{Approval, Effect, Rule, Scope};

/// Saved approvals, arranged for looking up: those of single calls by the call, all others as rules.
#[derive(Debug, Default)]
pub(crate) struct Approved {
    all: Vec<Arc<Approval>>,
    rules: Index,
    calls: HashMap<String, Arc<Approval>>,
}

impl Approved {
    pub(crate) fn new(approvals: Vec<Approval>) -> Self {
        let all: Vec<Arc<Approval>> = approvals.into_iter().map(Arc::new).collect();
        let mut calls = HashMap::new();
        let mut rules = Vec::new();
        for approval in &all {
            match &approval.scope {
                Scope::Call(bound) => {
                    calls.insert(bound.clone(), Arc::clone(approval));
                }
                _ => rules.push(approval.rule()),
            }
        }
        Self {
            all,
            rules: Index::new(rules, None, None),
            calls,
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Approval> {
        self.all.iter().map(|approval| &**approval)
    }

    /// Those that stand for more than one call, as rules.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.rules().iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// An approval that allows the subject and passes the check, as a rule.
    pub(crate) fn find(
        &self,
        request: &Request<'_>,
        action: &str,
        subject: &Subject,
        now: u64,
        check: impl Fn(&Rule) -> bool,
    ) -> Option<&Rule> {
        if self.all.is_empty() {
            return None;
        }
        self.rules
            .first(Effect::Allow, action, subject, |rule, pattern| {
                check(rule)
                    && subject.admits(pattern)
                    && pattern.covers(subject)
                    && rule
                        .saved()
                        .is_some_and(|approval| approval.applies_to(request, now))
            })
    }

    /// An approval of just this call.
    pub(crate) fn of_call(&self, request: &Request<'_>, now: u64) -> Option<&Arc<Approval>> {
        if self.calls.is_empty() {
            return None;
        }
        let approval = self.calls.get(&binding(request)?)?;
        approval.applies_to(request, now).then_some(approval)
    }
}
