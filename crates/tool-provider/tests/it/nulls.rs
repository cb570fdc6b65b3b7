//! Null that says that a property is left out is offered on the wire.

use serde_json::{Map, Value, json};
use tool_provider::{Profile, Projection};

use crate::tools::{property, tool};

/// The profiles that say of a property with null that it is left out.
const PROFILES: [Profile; 2] = [Profile::Groq, Profile::OpenAiChatStrict];

fn removes_null(sent: &Projection) -> bool {
    sent.inverse().restore(json!({"x": null})) == json!({})
}

fn offers_null(sent: &Projection) -> bool {
    let x = &sent.schema()["properties"]["x"];
    let branches = x["anyOf"].as_array();
    branches.is_some_and(|all| all.contains(&json!({"type": "null"})))
}

/// `x` refers to the first of a chain of definitions.
fn chain(length: usize, mut link: impl FnMut(usize, Value) -> Value, last: &Value) -> Value {
    let defs = (0..=length).map(|at| {
        let next = json!({"$ref": format!("#/$defs/d{:02}", at + 1)});
        let node = if at == length {
            last.clone()
        } else {
            link(at, next)
        };
        (format!("d{at:02}"), node)
    });
    let defs: Map<String, Value> = defs.collect();
    let mut schema = property(json!({"$ref": "#/$defs/d00"}));
    schema["$defs"] = Value::Object(defs);
    schema
}

#[track_caller]
fn holds(schema: &Value) {
    for profile in PROFILES {
        let Ok(sent) = profile.project(&tool("null", schema.clone())) else {
            continue;
        };
        let judge = jsonschema::validator_for(sent.schema()).expect("a schema");
        if removes_null(&sent) {
            assert!(judge.is_valid(&json!({"x": null})), "{profile} {schema}");
        }
        let shown = sent.inverse().present(json!({}));
        assert!(judge.is_valid(&shown), "{profile} {shown} {schema}");
    }
}

#[test]
fn null_that_stands_for_absence_is_taken_on_the_wire_whatever_chain_leads_there() {
    for seed in 0..300_usize {
        let mut state = seed * 7_919 + 1;
        let mut below = |most: usize| {
            state = (state * 1_103_515_245 + 12_345) % (1 << 31);
            (state >> 8) % most
        };
        let last = [json!({"type": "string"}), json!({"type": "null"})][below(2)].clone();
        let length = below(40);
        let link = |_: usize, next: Value| match below(6) {
            0 => json!({"not": next}),
            1 => json!({"anyOf": [next, {"type": "integer"}]}),
            2 => json!({"oneOf": [{"type": "null"}, next]}),
            3 => json!({"allOf": [next]}),
            4 => json!({"if": next, "then": {"type": "string"}, "else": {"type": "null"}}),
            _ => next,
        };
        holds(&chain(length, link, &last));
    }
}

#[test]
fn null_is_offered_beside_what_leads_back_to_itself_through_not() {
    for length in 1..36 {
        let back = json!({"not": {"$ref": "#/$defs/d00"}});
        let schema = chain(length, |_, next| next, &back);
        let sent = Profile::Groq.project(&tool("back", schema));
        let sent = sent.expect("it is sent");
        assert!(removes_null(&sent), "{length}");
        assert!(offers_null(&sent), "{length}: {}", sent.schema());
    }
}
