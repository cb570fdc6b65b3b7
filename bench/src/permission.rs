//! Decisions over few and many rules, beside a plain set of globs, and reading a command line.

use std::error::Error;
use std::hint::black_box;

use globset::{Glob, GlobSet, GlobSetBuilder};
use tool_core::{Action, Facts, Request, Resource, Ruling};
use tool_permission::{CommandAnalysis, Layer, Rule, RulePolicy};

/// What is asked about: no rule but the last names it.
const ASKED: &str = "src/module_0/file_0.rs";

/// A policy of that many rules.
pub struct Rules {
    policy: RulePolicy,
    facts: Facts,
    resources: [Resource; 1],
}

impl Rules {
    pub fn new(rules: usize) -> Result<Self, Box<dyn Error>> {
        let rules = (1..rules)
            .map(|number| Rule::deny("fetch", format!("host_{number}.example/*")))
            .chain([Rule::allow("fetch", "src/*")]);
        Ok(Self {
            policy: RulePolicy::new([Layer::new("bench", rules)?]),
            facts: Facts::new().session("session"),
            resources: [Resource::from(ASKED)],
        })
    }

    pub fn decide(&self) -> Ruling {
        let request = Request::new(Action::new("fetch"), &self.resources, &self.facts);
        self.policy.judge(&request)
    }
}

/// The same patterns in `globset`, which only says which of them match.
pub fn globs(rules: usize) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for number in 1..rules {
        set.add(Glob::new(&format!("host_{number}.example/*"))?);
    }
    set.add(Glob::new("src/*")?);
    set.build()
}

pub fn match_globs(set: &GlobSet) -> Vec<usize> {
    set.matches(black_box(ASKED))
}

/// A command line of about two kilobytes, with pipes, quotes, redirects and substitutions.
pub fn command_line() -> String {
    const PART: &str = "cd src && grep -rn \"fn main\" --include='*.rs' . | sort -u > out.txt; git log --oneline -n 5 ";
    let mut line = PART.to_owned();
    while line.len() < 2_000 {
        line.push_str("&& ");
        line.push_str(PART);
    }
    line
}

pub fn read_command(line: &str) -> CommandAnalysis {
    CommandAnalysis::new("/work", "/work", black_box(line))
}
