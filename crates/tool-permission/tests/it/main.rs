//! The crate through its public API.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what a fixture cannot do fails the test"
)]

mod approvals; // saved approvals: scopes, ends, sharing
#[cfg(unix)]
mod bash_lab; // runs a line in a real bash
mod command; // lines for a shell: the labelled cases in other forms
#[cfg(unix)]
mod command_agreement; // the words that a real bash runs with are those that were found
mod command_corpus; // lines that agents write, of which hardly any is opaque
mod command_elsewhere; // ... or in a container, on another machine, in another terminal
mod command_grammar; // makes lines with a numbered command in every place that runs
mod command_hostile; // ... or made to break the reader
mod command_markers; // ... none of which is missed
mod command_opaque; // ... of which a part cannot be read
#[cfg(unix)]
mod command_oracle; // ... as a real bash shows
mod command_packages; // npx, uvx and the like
#[cfg(unix)]
mod command_pieces; // pieces of words
mod command_rewrites; // ways to write one act
mod command_rules; // what rules say about lines
#[cfg(unix)]
mod command_script; // makes lines of which every command runs
mod command_variants; // ways to write any line
mod conditions; // on arguments, agents, sessions
mod desk; // questions, answers, notices
mod field_reports; // what surprised people elsewhere
mod file; // the grammar of policy files and its errors
mod gate; // names, calls, capabilities, several resources, conditions
mod labelled; // cases in files
mod laws; // the laws of the design contract
mod lint; // reported rules, explanations
mod mailbox; // questions that another process answers
mod path; // paths: what the labelled cases leave open
mod replies; // answers for more than one question, queues
mod scale; // many rules, hostile patterns
mod volume; // probing for case
mod wildcard; // patterns against a reference matcher

use tool_core::{Action, Decision, Facts, Request, Resource, Resources, Ruling};
use tool_permission::{Layer, Rule, RulePolicy};

/// A policy of these rules.
fn policy(rules: impl IntoIterator<Item = Rule>) -> RulePolicy {
    RulePolicy::new([Layer::new("test", rules).unwrap()])
}

/// The ruling on an action on names.
fn ruling<const N: usize>(policy: &RulePolicy, action: &str, names: [&str; N]) -> Ruling {
    let resources = Resources::try_from(names.map(Resource::from).to_vec()).unwrap();
    policy.judge(&Request::new(Action::new(action), resources, &Facts::new()))
}

/// The decision on an action on names.
fn decision<const N: usize>(policy: &RulePolicy, action: &str, names: [&str; N]) -> Decision {
    ruling(policy, action, names).decision
}
