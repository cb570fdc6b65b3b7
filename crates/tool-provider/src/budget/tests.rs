//! That what is made of a schema is cut before it takes long; what is sent would be the same.

use serde_json::{Map, Value, json};

use super::{Budget, COPIES, MOST_NODES};
use crate::Profile;
use crate::node::parse;
use crate::pass::{Effort, Work, referred};

/// A schema whose definitions each name the next one.
fn chain(levels: usize, last: Value, make: impl Fn(Value) -> Value) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/n{}", level + 1)});
        defs.insert(format!("n{level}"), make(next));
    }
    defs.insert(format!("n{levels}"), last);
    json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/n0"}},
        "required": ["tree"],
        "additionalProperties": false,
        "$defs": defs,
    })
}

/// What one effort made of a schema.
fn spent(profile: Profile, schema: &Value) -> Option<Budget> {
    let originals = parse(schema).ok()?;
    let rules = profile.rules();
    let effort = Effort {
        unroll: 1,
        follow: 24,
        words: true,
    };
    let given = originals.clone();
    let originals = referred(&originals, rules);
    let mut work = Work::new(rules, effort, &originals, Budget::default());
    work.run(given);
    Some(work.report.budget)
}

#[test]
fn references_that_double_with_every_level_bring_in_no_more_than_the_bound() {
    let schema = chain(
        18,
        json!({"type": "string"}),
        |next| json!({"type": "object", "properties": {"a": next, "b": next}}),
    );
    let nodes = spent(Profile::Gemini, &schema).map_or(0, |budget| budget.nodes);
    assert!(nodes > MOST_NODES, "{nodes}: the bound is not reached");
    assert!(nodes < MOST_NODES + 1_000, "{nodes}");
}

/// An object whose many alternatives each have to hold with all of its many properties.
fn wide(count: usize) -> Value {
    let named = |it| (format!("p{it}"), json!({"type": "string"}));
    let properties: Map<String, Value> = (0..count).map(named).collect();
    let alternative = |it| json!({"properties": {"kind": {"const": it}}, "required": ["kind"]});
    let alternatives: Vec<Value> = (0..count).map(alternative).collect();
    let inner = json!({"type": "object", "properties": properties, "anyOf": alternatives});
    json!({"type": "object", "properties": {"x": inner}})
}

#[test]
fn what_stands_beside_alternatives_is_copied_no_more_than_the_bound() {
    let most = COPIES * MOST_NODES;
    for profile in [Profile::AnthropicStrict, Profile::Gemini, Profile::Kimi] {
        let copied = |count| spent(profile, &wide(count)).map_or(0, |budget| budget.copied);
        assert!((1..most).contains(&copied(100)), "{profile}");
        // One more is counted, and not made.
        let made = copied(1_000);
        assert!(made > most, "{profile}: {made}");
        assert!(made < 2_000_000, "{profile}: {made}");
    }
}

#[test]
fn chains_of_alternatives_stay_within_the_bound() {
    let last = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    for key in ["anyOf", "oneOf", "allOf"] {
        let make = |next| json!({"type": "object", "minProperties": 1, (key): [next, next]});
        let schema = chain(40, last.clone(), make);
        for profile in Profile::ALL {
            let budget = spent(profile, &schema).unwrap_or_default();
            assert!(
                budget.nodes < (1 + COPIES) * MOST_NODES + 1_000,
                "{profile}: {budget:?}"
            );
            assert!(
                budget.copied <= COPIES * MOST_NODES + 1_000,
                "{profile}: {budget:?}"
            );
        }
    }
}

#[test]
fn all_efforts_together_bring_in_little_more_than_twice_what_the_first_may() {
    let mut budget = Budget::default();
    let mut all = 0;
    for _ in 0..8 {
        budget.brings_in(budget.most + 1);
        all += budget.nodes;
        budget = budget.next();
    }
    assert!(all < 3 * MOST_NODES, "{all}");
    let within = Budget::default();
    assert_eq!(within.next().most, MOST_NODES);
}
