//! No command that bash would run is missed, unless the line is opaque.

use std::collections::{BTreeMap, HashSet};

use tool_core::{Action, Decision, Facts, Request, Resource};
use tool_permission::{CommandAnalysis, Rule};

use crate::command_grammar::{Grammar, Random, marker};
use crate::policy;

/// How many lines are made; more where the variable asks for it.
fn lines() -> usize {
    let asked = std::env::var("TOOL_PERMISSION_TRIES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

#[test]
fn every_numbered_command_of_a_generated_line_is_found() {
    let mut random = Random::new(2);
    let mut opaque = 0;
    let mut reasons = BTreeMap::<_, usize>::new();
    let lines = lines();
    for _ in 0..lines {
        let (line, made) = Grammar::line(&mut random);
        let analysis = CommandAnalysis::new("/repo", "/repo", &line);
        if let Some(reason) = analysis.opaque() {
            opaque += 1;
            *reasons.entry(reason).or_default() += 1;
            continue;
        }
        let programs = programs(&analysis);
        for number in 0..made {
            assert!(
                programs.contains(&marker(number)),
                "m{number} was missed in {line:?}"
            );
        }
    }
    println!("{opaque} of {lines} lines are opaque: {reasons:?}");
    assert!(
        opaque < lines / 4,
        "{opaque} lines are opaque, which says little about the rest"
    );
}

#[test]
fn a_denied_command_is_never_allowed_wherever_it_stands() {
    let mut random = Random::new(3);
    for _ in 0..lines() / 10 {
        let (line, made) = Grammar::line(&mut random);
        let denied = marker(random.below(made));
        let rules = [
            Rule::allow("*", "**"),
            Rule::deny("shell", format!("{denied} *")),
        ];
        let facts = Facts::new();
        let resources = [Resource::command("/repo", "/repo", &line)];
        let ruling = policy(rules).judge(&Request::new(Action::new("shell"), resources, &facts));
        assert_ne!(ruling.decision, Decision::Allow, "{denied} in {line:?}");
    }
}

/// The programs of the commands that are known.
fn programs(analysis: &CommandAnalysis) -> HashSet<String> {
    let programs = analysis
        .commands()
        .filter_map(|words| words.first()?.known());
    programs.map(str::to_owned).collect()
}
