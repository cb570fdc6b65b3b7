//! Every tool of real servers, in every profile.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tool_core::{Definition, Identity, WireName, canonical_json};
use tool_provider::Profile;

use crate::checker::refused;
use crate::tools::{corpus, corpus_identities, in_halves};

#[test]
fn every_tool_of_the_corpus_is_taken_by_every_provider() {
    let Some(tools) = corpus("every_tool_of_the_corpus_is_taken_by_every_provider") else {
        return;
    };
    let [mut wrong, others] = in_halves(tools, |half| {
        let mut wrong = Vec::new();
        for profile in Profile::ALL {
            judge(profile, half, &mut wrong);
        }
        wrong
    });
    wrong.extend(others);
    println!("{} refused", wrong.len());
    assert!(
        wrong.is_empty(),
        "{}",
        wrong[..wrong.len().min(40)].join("\n")
    );
}

fn judge(profile: Profile, tools: &[Definition], wrong: &mut Vec<String>) {
    let (mut strict, mut losses) = (0, 0);
    for tool in tools {
        let sent = match profile.project(tool) {
            Ok(sent) => sent,
            Err(quarantine) => {
                wrong.push(quarantine.to_string());
                continue;
            }
        };
        strict += usize::from(sent.is_strict());
        losses += usize::from(!sent.losses().is_empty());
        for rule in refused(profile, sent.definition(), sent.is_strict()) {
            wrong.push(format!("{profile} {}: {rule}", sent.name()));
        }
        let given = serde_json::to_string(tool).expect("JSON").len();
        let made = sent.as_json().len();
        let (nodes, depth) = size(sent.schema());
        if nodes > 10_000 || depth > 64 {
            let name = sent.name();
            wrong.push(format!("{profile} {name}: {nodes} nodes, {depth} levels"));
        }
        if made > 2 * given {
            let name = sent.name();
            wrong.push(format!("{profile} {name}: {given} bytes became {made}"));
        }
        if sent.as_json() != canonical_json(sent.definition()) {
            wrong.push(format!("{profile} {}: its text says another", sent.name()));
        }
    }
    println!(
        "{profile}: {} tools, {strict} strict, {losses} with losses",
        tools.len()
    );
}

/// How many values a schema consists of, and how deep they stand.
fn size(schema: &Value) -> (usize, usize) {
    let inner: Vec<&Value> = match schema {
        Value::Object(map) => map.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    inner
        .into_iter()
        .map(size)
        .fold((1, 1), |sum, it| (sum.0 + it.0, sum.1.max(1 + it.1)))
}

#[test]
fn wire_names_are_a_bijection_over_the_corpus_in_any_order() {
    let Some(tools) = corpus_identities("wire_names_are_a_bijection_over_the_corpus_in_any_order")
    else {
        return;
    };
    let names = |identities: &[Identity]| -> BTreeMap<String, Identity> {
        let named = identities.iter();
        named
            .map(|it| (WireName::of(it).to_string(), it.clone()))
            .collect()
    };
    let distinct: BTreeSet<String> = tools.iter().map(|it| format!("{it:?}")).collect();
    let forth = names(&tools);
    assert_eq!(forth.len(), distinct.len(), "no two tools have one name");
    let mut turned = tools.clone();
    turned.reverse();
    turned.rotate_left(331);
    assert_eq!(names(&turned), forth, "whatever is named first");
    for (name, identity) in &forth {
        assert_eq!(&names(std::slice::from_ref(identity))[name], identity);
    }
}

#[test]
fn any_order_gives_the_same_bytes() {
    let Some(tools) = corpus("any_order_gives_the_same_bytes") else {
        return;
    };
    // Of all servers some, and more than one request takes.
    let mut tools: Vec<&Definition> = tools.iter().step_by(4).collect();
    for profile in Profile::ALL {
        let list = profile.tools(tools.iter().copied());
        let list = list.as_json();
        tools.reverse();
        assert!(
            list == profile.tools(tools.iter().copied()).as_json(),
            "{profile}"
        );
        tools.rotate_left(97);
        assert!(
            list == profile.tools(tools.iter().copied()).as_json(),
            "{profile}"
        );
    }
}
