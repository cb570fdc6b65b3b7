//! Rules arranged so that a lookup tries few of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::keys::Keys;
use crate::path::rule_texts;
use crate::subject::{Dialect, Spelling, Subject};
use crate::{Effect, Pattern, Rule};

/// Rules by action, effect and the literal start or end of their resource.
///
/// A lookup costs the logarithm of the number of rules and one match for each rule whose literal
/// start, or end, is that of the subject. Only rules that start and end with a wildcard are all
/// tried.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In order of preference.
    rules: Vec<Rule>,
    home: Option<PathBuf>,
    /// The folder that relative paths of rules start from, where it is known.
    workspace: Option<PathBuf>,
    looks_at_arguments: bool,
    tables: BTreeMap<Arc<str>, Tables>,
}

/// The rules of one action.
#[derive(Debug, Default)]
struct Tables {
    allow: Table,
    ask: Table,
    deny: Table,
}

/// The rules of one action and effect. Each reading is arranged when it is first needed.
#[derive(Debug, Default)]
struct Table {
    /// It asks or denies, so that it also holds where its paths lead.
    strict: bool,
    rules: Vec<usize>,
    names: OnceLock<Shelf>,
    words: OnceLock<Shelf>,
    paths: OnceLock<Shelf>,
    composed_paths: OnceLock<Shelf>,
    caseless_paths: OnceLock<Shelf>,
}

/// The patterns of a table in one reading.
#[derive(Debug, Default)]
struct Shelf {
    /// Each with the place of its rule, which rises.
    patterns: Vec<(usize, Pattern)>,
    heads: Keys,
    tails: Keys,
}

impl Index {
    /// Arranges rules; a leading `~` of a path is the home directory.
    pub(crate) fn new(
        mut rules: Vec<Rule>,
        home: Option<PathBuf>,
        workspace: Option<PathBuf>,
    ) -> Self {
        // A decision never depends on this order, but which rule explains it does.
        rules.sort_by_cached_key(Rule::preference);
        let mut tables = BTreeMap::<_, Tables>::new();
        for (at, rule) in rules.iter().enumerate() {
            let tables = tables.entry(Arc::from(rule.action())).or_default();
            tables.of_mut(rule.effect()).rules.push(at);
        }
        Self {
            looks_at_arguments: rules.iter().any(Rule::looks_at_arguments),
            rules,
            home,
            workspace,
            tables,
        }
    }

    /// All rules, in order of preference.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a rule has conditions on arguments.
    pub(crate) fn looks_at_arguments(&self) -> bool {
        self.looks_at_arguments
    }

    pub(crate) fn into_rules(self) -> Vec<Rule> {
        self.rules
    }

    /// The resource of a rule in all forms in which paths are compared with it.
    fn path_texts(&self, resource: &str, strict: bool) -> Vec<String> {
        let workspace = self.workspace.as_deref().filter(|_| strict);
        rule_texts(resource, self.home.as_deref(), workspace)
    }

    /// Whether there is a rule for the action, or one for every action.
    pub(crate) fn has_action(&self, action: &str) -> bool {
        [action, Rule::ANY_ACTION]
            .iter()
            .any(|action| self.tables.contains_key(*action))
    }

    /// The most preferred rule of that effect that passes the check.
    ///
    /// The check is given rules of the action whose pattern can match the subject, each with its
    /// pattern in the reading of the subject, in no particular order.
    pub(crate) fn first(
        &self,
        effect: Effect,
        action: &str,
        subject: &Subject,
        check: impl Fn(&Rule, &Pattern) -> bool,
    ) -> Option<&Rule> {
        let mut best: Option<usize> = None;
        for action in [action, Rule::ANY_ACTION] {
            let Some(tables) = self.tables.get(action) else {
                continue;
            };
            let table = tables.of(effect);
            if table.rules.is_empty() {
                continue;
            }
            let shelf = table.shelf(self, subject);
            shelf.visit(subject, |at, pattern| {
                if best.is_some_and(|best| best <= at) {
                    return false;
                }
                let passes = self.rules.get(at).is_some_and(|rule| check(rule, pattern));
                if passes {
                    best = Some(at);
                }
                passes
            });
        }
        best.and_then(|best| self.rules.get(best))
    }
}

impl Tables {
    fn of(&self, effect: Effect) -> &Table {
        match effect {
            Effect::Allow => &self.allow,
            Effect::Ask => &self.ask,
            Effect::Deny => &self.deny,
        }
    }

    fn of_mut(&mut self, effect: Effect) -> &mut Table {
        self.ask.strict = true;
        self.deny.strict = true;
        match effect {
            Effect::Allow => &mut self.allow,
            Effect::Ask => &mut self.ask,
            Effect::Deny => &mut self.deny,
        }
    }
}

impl Table {
    fn shelf(&self, index: &Index, subject: &Subject) -> &Shelf {
        let dialect = subject.dialect();
        let spelling = subject.spelling();
        let shelf = match (dialect, spelling) {
            (Dialect::Name, _) => &self.names,
            (Dialect::Words, _) => &self.words,
            (Dialect::Path, Spelling::Exact) => &self.paths,
            (Dialect::Path, Spelling::Composed) => &self.composed_paths,
            (Dialect::Path, Spelling::Caseless) => &self.caseless_paths,
        };
        shelf.get_or_init(|| {
            let rules = self
                .rules
                .iter()
                .filter_map(|&at| Some((at, index.rules.get(at)?.resource())));
            let patterns = rules.flat_map(|(at, resource)| {
                let patterns = match dialect {
                    Dialect::Name | Dialect::Words => vec![resource.clone()],
                    Dialect::Path => index
                        .path_texts(resource.as_str(), self.strict)
                        .iter()
                        .map(|text| Pattern::new(spelling.fold(text)))
                        .collect(),
                };
                patterns.into_iter().map(move |pattern| (at, pattern))
            });
            Shelf::new(patterns.collect(), dialect)
        })
    }
}

impl Shelf {
    fn new(patterns: Vec<(usize, Pattern)>, dialect: Dialect) -> Self {
        let mut heads = Vec::new();
        let mut tails = Vec::new();
        for (at, (_, pattern)) in patterns.iter().enumerate() {
            let head: Vec<char> = pattern.head(dialect).collect();
            let tail: Vec<char> = pattern.tail(dialect).collect();
            if tail.len() > head.len() {
                tails.push((tail, at));
            } else {
                heads.push((head, at));
            }
        }
        Self {
            patterns,
            heads: Keys::new(heads),
            tails: Keys::new(tails),
        }
    }

    /// Shows the patterns that can match the subject. In a group of the same key, those after one
    /// that was taken are not shown.
    fn visit(&self, subject: &Subject, mut take: impl FnMut(usize, &Pattern) -> bool) {
        let mut show = |group: &[usize]| {
            for &at in group {
                if let Some((rule, pattern)) = self.patterns.get(at)
                    && take(*rule, pattern)
                {
                    return;
                }
            }
        };
        let partly = !subject.is_known();
        self.heads.visit(subject.head(), partly, &mut show);
        if !self.tails.is_empty() {
            self.tails.visit(&subject.tail(), partly, &mut show);
        }
    }
}

#[cfg(test)]
mod tests;
