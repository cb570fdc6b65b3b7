//! That writing out references is cut before it takes long; what is sent would be the same.

use serde_json::{Map, Value, json};

use super::MOST_NODES;
use crate::node::parse;
use crate::pass::{Effort, Work};
use crate::table::GEMINI;

#[test]
fn references_that_double_with_every_level_bring_in_no_more_than_the_bound() {
    let levels = 18;
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/n{}", level + 1)});
        let node = json!({"type": "object", "properties": {"a": next, "b": next}});
        defs.insert(format!("n{level}"), node);
    }
    defs.insert(format!("n{levels}"), json!({"type": "string"}));
    let schema: Value = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/n0"}},
        "$defs": defs,
    });
    let originals = parse(&schema);
    let effort = Effort {
        unroll: 1,
        follow: 24,
        words: true,
    };
    let nodes = originals.map(|originals| {
        let mut work = Work::new(&GEMINI, effort, &originals);
        work.run(originals.clone());
        work.nodes
    });
    let nodes = nodes.unwrap_or_default();
    assert!(nodes > MOST_NODES, "{nodes}: the bound is not reached");
    assert!(nodes < MOST_NODES + 1_000, "{nodes}");
}
