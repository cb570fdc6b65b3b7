//! What is large, deep or endless is bounded, and still sent where it can be.

use serde_json::{Map, Value, json};
use tool_core::Definition;
use tool_provider::Profile;

use crate::tools::{property, tool};

#[test]
fn what_is_too_large_is_written_with_less_and_the_least_is_sent() {
    let mut defs = Map::new();
    for level in 0..12 {
        let next = json!({"$ref": format!("#/$defs/n{}", level + 1)});
        let node = json!({"type": "object", "properties": {"a": next, "b": next}});
        defs.insert(format!("n{level}"), node);
    }
    defs.insert("n12".to_owned(), json!({"type": "string"}));
    // However little is said, it is large: the provider has no short form of what takes anything.
    let open = (0..200).map(|it| (format!("p{it}"), json!(true)));
    let mut properties: Map<String, Value> = open.collect();
    properties.insert("tree".to_owned(), json!({"$ref": "#/$defs/n0"}));
    let schema = json!({"type": "object", "properties": properties, "$defs": defs});
    let sent = Profile::Gemini.project(&tool("large", schema));
    let sent = sent.expect("what is large is sent");
    assert_eq!(sent.schema()["properties"]["tree"]["type"], "OBJECT");
    let made = sent.schema()["properties"]["tree"].to_string();
    assert!(made.len() < 200, "{made}");
}

#[test]
fn what_is_beyond_the_limits_of_a_plain_profile_is_quarantined() {
    let nested = |levels: usize| {
        let leaf = json!({"type": "string"});
        (0..levels).fold(leaf, |inner, _| property(inner))
    };
    let kimi = |levels| Profile::Kimi.project(&tool("deep", nested(levels)));
    assert!(kimi(30).is_ok());
    let refused = kimi(31).expect_err("it is too deep");
    assert_eq!(refused.reason, "the schema is nested too deeply");
    assert!(Profile::Generic.project(&tool("deep", nested(31))).is_ok());
}

#[test]
fn of_two_tools_with_one_name_one_is_sent_and_the_other_quarantined() {
    let twins = ["string", "integer"].map(|kind| tool("twin", property(json!({"type": kind}))));
    let list = Profile::Mcp.tools(&twins);
    assert_eq!((list.tools().len(), list.quarantined().len()), (1, 1));
    let turned = Profile::Mcp.tools(twins.iter().rev());
    assert_eq!(list.as_json(), turned.as_json());
}

#[test]
fn a_tool_with_more_optional_properties_than_a_request_takes_is_not_strict() {
    let of = |count: usize| {
        let properties = (0..count).map(|it| (format!("p{it}"), json!({"type": "string"})));
        let properties: Map<String, Value> = properties.collect();
        let schema = json!({"type": "object", "properties": properties});
        Profile::AnthropicStrict.project(&tool("wide", schema))
    };
    assert!(of(24).is_ok_and(|it| it.is_strict()));
    assert!(of(25).is_ok_and(|it| !it.is_strict() && it.fell_back().is_some()));
}

#[test]
fn schemas_that_are_read_again_by_many_references_are_too_large() {
    let leaves: Map<String, Value> = (0..2_000).map(|it| (format!("p{it}"), json!({}))).collect();
    let mut inner = json!({"type": "object", "properties": leaves});
    let mut refs = Map::new();
    let mut pointer = "#".to_owned();
    for level in 0..25 {
        pointer.push_str("/properties/x");
        refs.insert(format!("r{level}"), json!({"$ref": pointer}));
        inner = property(inner);
    }
    inner["properties"]["refs"] = json!({"type": "object", "properties": refs});
    let refused = Profile::Gemini.project(&tool("again", inner));
    let reason = refused.expect_err("it is too large").reason;
    assert_eq!(
        reason,
        "the schema is too large once its references are followed"
    );
}

#[test]
fn references_that_lead_to_themselves_end_on_the_way_back() {
    let own = json!({"$ref": "#/$defs/own"});
    let schema = json!({
        "type": "object",
        "properties": {"x": own, "left": {"type": "string"}},
        "required": ["x"],
        "$defs": {"own": {"allOf": [own, own]}},
    });
    let sent = Profile::Groq.project(&tool("own", schema));
    let sent = sent.expect("it is sent");
    let restored = sent.inverse().restore(json!({"x": {"y": 1}, "left": null}));
    assert_eq!(restored, json!({"x": {"y": 1}}));
    let presented = sent.inverse().present(json!({"x": {"y": 1}}));
    assert_eq!(presented, json!({"x": {"y": 1}}), "what may be left out is");
}

#[test]
fn definitions_that_name_themselves_or_each_other_often_are_read_once() {
    let own = json!({"$ref": "#/$defs/a"});
    for key in ["anyOf", "oneOf", "allOf"] {
        let mut schema = property(own.clone());
        schema["$defs"] = json!({"a": {(key): vec![own.clone(); 24]}});
        for profile in Profile::ALL {
            // Whether it is sent is for each to say: that it ends is what counts.
            let _sent = profile.project(&tool("own", schema.clone()));
        }
        let sent = Profile::Groq.project(&tool("own", schema));
        let sent = sent.expect("it is sent");
        assert_eq!(sent.inverse().restore(json!({"x": null})), json!({}));
    }
    let ring: Map<String, Value> = (0..2_000)
        .map(|it| {
            let next = json!({"$ref": format!("#/$defs/n{}", (it + 1) % 2_000)});
            (format!("n{it}"), json!({"not": next}))
        })
        .collect();
    let mut schema = property(json!({"$ref": "#/$defs/n0"}));
    schema["$defs"] = Value::Object(ring);
    assert!(Profile::Groq.project(&tool("ring", schema)).is_ok());
}

/// Definitions that each are made of the names of all.
fn definitions(count: usize, make: impl Fn(usize, &dyn Fn(usize) -> Value) -> Value) -> Definition {
    let named = |at: usize| json!({"$ref": format!("#/$defs/d{at}")});
    let defs = (0..count).map(|at| (format!("d{at}"), make(at, &named)));
    let defs: Map<String, Value> = defs.collect();
    let mut schema = property(named(0));
    schema["additionalProperties"] = json!(false);
    schema["$defs"] = Value::Object(defs);
    tool("many", schema)
}

#[test]
fn chains_of_alternatives_with_something_beside_them_end_and_are_sent() {
    let leaf = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let besides = [
        (json!({}), json!({"type": "string"})),
        (json!({"type": "object", "minProperties": 1}), leaf.clone()),
        (
            json!({"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": false}),
            leaf,
        ),
        (
            json!({"type": ["string", "null"], "description": "w"}),
            json!({"type": "string"}),
        ),
    ];
    for key in ["anyOf", "oneOf", "allOf"] {
        for (beside, leaf) in &besides {
            let tool = definitions(41, |at, named| {
                let mut node = beside.clone();
                node[key] = json!([named(at + 1), named(at + 1)]);
                if at == 40 { leaf.clone() } else { node }
            });
            for profile in Profile::ALL {
                let sent = profile.project(&tool);
                assert!(sent.is_ok(), "{profile}: {key} beside {beside}");
            }
        }
    }
}

#[test]
fn what_cannot_be_said_in_every_alternative_any_more_ends_strictness() {
    let named = |it| (format!("p{it}"), json!({"type": "string"}));
    let properties: Map<String, Value> = (0..500).map(named).collect();
    let alternative = |it| json!({"properties": {"kind": {"const": it}}, "required": ["kind"]});
    let alternatives: Vec<Value> = (0..500).map(alternative).collect();
    let inner = json!({"type": "object", "properties": properties, "anyOf": alternatives});
    let sent = Profile::AnthropicStrict.project(&tool("wide", property(inner)));
    let sent = sent.expect("it is sent without strictness");
    let because = sent.fell_back().expect("it fell back");
    assert_eq!(
        because.note,
        "it is too large once it is said with all that stands beside it"
    );
    assert_eq!(because.keyword, "anyOf");
}

#[test]
fn definitions_that_all_name_each_other_end() {
    for key in ["anyOf", "oneOf", "allOf", "properties"] {
        let tool = definitions(40, |_, named| match key {
            "properties" => {
                let all = (0..40).map(|at| (format!("p{at}"), named(at)));
                let all: Map<String, Value> = all.collect();
                json!({"type": "object", "properties": all, "required": ["p1"], "additionalProperties": false})
            }
            key => json!({(key): (0..40).map(named).collect::<Vec<_>>()}),
        });
        for profile in Profile::ALL {
            // Whether it is sent is for each to say: that it ends is what counts.
            let _sent = profile.project(&tool);
        }
        let sent = Profile::Gemini.project(&tool);
        assert!(sent.is_ok(), "{key}");
    }
}

#[test]
fn what_holds_for_every_further_key_is_not_said_of_thousands() {
    let names: Vec<String> = (0..3_000).map(|at| format!("p{at:04}")).collect();
    let inner = (0..1_500).map(|at| (format!("q{at}"), json!({})));
    let inner: Map<String, Value> = inner.collect();
    let schema = json!({
        "type": "object",
        "required": names,
        "additionalProperties": {"type": "object", "properties": inner},
    });
    let tool = tool("further", property(schema));
    for profile in Profile::ALL {
        if let Ok(sent) = profile.project(&tool) {
            assert!(sent.as_json().len() < 1_000_000, "{profile}");
        }
    }
    let sent = Profile::Groq.project(&tool);
    let sent = sent.expect("it is sent");
    let note = "it is not said of every key that it is about";
    assert!(sent.losses().iter().any(|loss| loss.note == note));
}

#[test]
fn alternatives_of_the_root_that_lead_back_to_themselves_end() {
    let own = json!({"$ref": "#/$defs/a"});
    let schema = json!({
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "anyOf": [own],
        "$defs": {"a": {"anyOf": [own, own]}},
    });
    for profile in Profile::ALL {
        let sent = profile.project(&tool("back", schema.clone()));
        assert!(
            sent.is_ok_and(|sent| sent.schema()["properties"]["x"].is_object()),
            "{profile}"
        );
    }
}

#[test]
fn many_references_to_places_of_one_name_are_told_apart() {
    let refs = (0..900).map(|it| {
        let reference = json!({"$ref": format!("#/$defs/d{it}/items")});
        (format!("p{it:04}"), reference)
    });
    let defs = (0..900).map(|it| (format!("d{it}"), json!({"items": {"const": it}})));
    let refs: Map<String, Value> = refs.collect();
    let defs: Map<String, Value> = defs.collect();
    let schema = json!({"type": "object", "properties": refs, "$defs": defs});
    let sent = Profile::Groq.project(&tool("named", schema));
    let sent = sent.expect("it is sent");
    let defs = &sent.schema()["$defs"];
    assert_eq!(defs["items"]["const"], json!(0));
    assert_eq!(defs["items_900"]["const"], json!(899));
}

#[test]
fn one_bad_tool_fails_no_other_and_limits_of_a_request_are_kept() {
    let bad = tool("bad", property(json!({"type": "null", "enum": ["A"]})));
    let many: Vec<Definition> = (0..200)
        .map(|index| {
            tool(
                &format!("tool{index:03}"),
                property(json!({"type": "string"})),
            )
        })
        .chain([bad])
        .collect();
    let list = Profile::OpenAiChat.tools(&many);
    assert_eq!(list.tools().len(), 128);
    assert!(list.quarantined().iter().any(|it| it.tool == "bad"));
    let list = Profile::AnthropicStrict.tools(&many);
    assert_eq!(list.tools().len(), 200);
    let strict: Vec<&str> = list
        .tools()
        .iter()
        .filter(|it| it.is_strict())
        .map(|it| it.name())
        .collect();
    assert_eq!(strict.len(), 20);
    assert_eq!(strict.last(), Some(&"tool019"));
}

#[test]
fn an_enumeration_that_is_too_long_is_given_up_or_ends_strictness() {
    let enumerated = |count: usize, chars: usize| {
        let values: Vec<String> = (0..count).map(|it| format!("{it:0chars$}")).collect();
        let mut schema = property(json!({"type": "string", "enum": values}));
        schema["required"] = json!(["x"]);
        schema["additionalProperties"] = json!(false);
        tool("long", schema)
    };
    let kimi = |count| {
        let sent = Profile::Kimi.project(&enumerated(count, 4));
        let sent = sent.expect("it is sent");
        sent.schema()["properties"]["x"].get("enum").is_some()
    };
    assert!(kimi(1_000));
    assert!(!kimi(1_001));
    let openai = |count, chars| {
        let sent = Profile::OpenAiChatStrict.project(&enumerated(count, chars));
        sent.is_ok_and(|it| it.is_strict())
    };
    assert!(openai(250, 100));
    assert!(openai(251, 59));
    assert!(!openai(251, 60));
}

#[test]
fn a_schema_with_too_many_bytes_is_quarantined() {
    let of = |chars: usize| {
        let schema = json!({"type": "string", "description": "d".repeat(chars)});
        let properties = (0..100).map(|it| (format!("p{it}"), schema.clone()));
        let properties: Map<String, Value> = properties.collect();
        tool("wordy", json!({"type": "object", "properties": properties}))
    };
    assert!(Profile::Kimi.project(&of(1_100)).is_ok());
    let refused = Profile::Kimi
        .project(&of(1_200))
        .expect_err("it is too long");
    assert_eq!(refused.reason, "the schema has too many bytes");
    assert!(Profile::Generic.project(&of(1_200)).is_ok());
}

#[test]
fn long_names_alone_do_not_end_strictness_before_their_own_limit() {
    let of = |chars: usize| {
        let names: Vec<String> = (0..400).map(|it| format!("p{it:0chars$}")).collect();
        let properties = names
            .iter()
            .map(|name| (name.clone(), json!({"type": "string"})));
        let properties: Map<String, Value> = properties.collect();
        let schema = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
        let sent = Profile::OpenAiChatStrict.project(&tool("named", schema));
        sent.is_ok_and(|it| it.is_strict())
    };
    assert!(of(298));
    assert!(!of(300));
}

#[test]
fn presenting_a_deep_value_of_nested_alternatives_ends() {
    let alternative = |kind: &str| {
        json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": [kind]},
                "child": {"$ref": "#/$defs/node"},
                "note": {"type": "string"},
            },
            "required": ["kind"],
            "additionalProperties": false,
        })
    };
    let alternatives = ["a", "b", "c"].map(alternative);
    let schema = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "required": ["root"],
        "additionalProperties": false,
        "$defs": {"node": {"anyOf": alternatives}},
    });
    let sent = Profile::OpenAiChatStrict.project(&tool("nested", schema));
    let sent = sent.expect("it is sent");
    assert!(sent.is_strict());
    let given = (0..60).fold(
        json!({"kind": "c"}),
        |child, _| json!({"kind": "c", "child": child}),
    );
    let given = json!({"root": given});
    let presented = sent.inverse().present(given.clone());
    let mut deepest = &presented["root"];
    while deepest["child"].is_object() {
        assert_eq!(deepest["note"], Value::Null);
        assert!(
            deepest.as_object().is_some_and(|it| it.len() == 3),
            "{deepest}"
        );
        deepest = &deepest["child"];
    }
    assert_eq!(*deepest, json!({"kind": "c", "child": null, "note": null}));
    assert_eq!(sent.inverse().restore(presented), given);
}
