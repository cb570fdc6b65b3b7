//! What users of tool runtimes ran into, one schema a report, as every profile sends it.

use std::path::Path;

use serde_json::{Map, Value, json};
use tool_core::{Annotations, Definition, Identity, Namespace, Schema, Source, ToolName, WireName};
use tool_provider::Profile;

use crate::checker::refused;
use crate::tools::{property, tool};

/// Compares what is sent with what was reviewed. `TOOL_BLESS` writes it anew.
fn reviewed(report: &str, schema: Value) -> Map<String, Value> {
    let tool = tool("reported", schema);
    let mut seen = Map::new();
    for profile in Profile::ALL {
        let sent = match profile.project(&tool) {
            Ok(sent) => {
                let wrong = refused(profile, sent.definition(), sent.is_strict());
                assert!(wrong.is_empty(), "{report} {profile}: {wrong:?}");
                json!({
                    "schema": sent.schema(),
                    "strict": sent.is_strict(),
                    "losses": sent.losses(),
                    "fell_back": sent.fell_back(),
                })
            }
            Err(quarantine) => json!({"quarantined": quarantine.to_string()}),
        };
        seen.insert(profile.as_str().to_owned(), sent);
    }
    let text = serde_json::to_string_pretty(&seen).expect("JSON") + "\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
    let file = folder.join(format!("{report}.json"));
    if std::env::var_os("TOOL_BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(&file, &text).expect("a file");
    }
    let stored = std::fs::read_to_string(&file)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert_eq!(
        stored, text,
        "{report} is sent as it was reviewed; TOOL_BLESS=1 writes it anew"
    );
    seen
}

#[test]
fn a1_alternatives_at_the_root_become_one_object() {
    let schema = json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let seen = reviewed("a1", schema);
    assert_eq!(
        seen["anthropic"]["schema"],
        json!({"type": "object", "properties": {"a": {}, "b": {}}}),
    );
}

#[test]
fn a2_alternatives_with_properties_keep_them_all() {
    let one = json!({"properties": {"content": {"type": "string"}}, "required": ["content"]});
    let other =
        json!({"properties": {"source_url": {"type": "string"}}, "required": ["source_url"]});
    let seen = reviewed("a2", json!({"type": "object", "anyOf": [one, other]}));
    assert_eq!(
        seen["anthropic"]["schema"]["properties"],
        json!({"content": {"type": "string"}, "source_url": {"type": "string"}}),
    );
}

#[test]
fn a4_a_tool_of_the_host_and_one_of_a_server_take_one_way_in_every_profile() {
    let schema =
        json!({"type": "object", "anyOf": [{"required": ["route"]}, {"required": ["file"]}]});
    reviewed("a4", schema.clone());
    let server = Source::Server(Namespace::new("s").expect("a namespace"));
    for profile in Profile::ALL {
        let sent = [&Source::Host, &server].map(|source| {
            let identity = Identity::new(source, ToolName::new("open").expect("a name"));
            let schema = Schema::input(schema.clone()).expect("an input schema");
            let annotations = Annotations::default();
            let name = WireName::of(&identity);
            let tool = Definition::new(name, "Opens it.", schema, None, annotations);
            profile.project(&tool).expect("it is sent")
        });
        let [host, server] = &sent;
        assert_eq!(host.schema(), server.schema(), "{profile}");
        assert_eq!(host.losses(), server.losses(), "{profile}");
    }
}

#[test]
fn a5_parts_at_the_root_become_one_object() {
    let parts = json!([{"properties": {"a": {}}}, {"properties": {"b": {}}}]);
    let seen = reviewed("a5", json!({"type": "object", "allOf": parts}));
    assert_eq!(
        seen["openai-chat"]["schema"],
        json!({"type": "object", "properties": {"a": {}, "b": {}}}),
    );
}

#[test]
fn a6_strict_requires_all_and_null_says_that_one_is_left_out() {
    let schema = json!({
        "type": "object",
        "properties": {"u": {"type": "string", "format": "uri"}, "n": {"type": "integer"}},
        "required": ["u"],
    });
    let seen = reviewed("a6", schema);
    assert_eq!(
        seen["openai-chat-strict"]["schema"],
        json!({
            "type": "object",
            "properties": {
                "u": {"type": "string", "description": "Format: uri."},
                "n": {"type": ["integer", "null"]},
            },
            "required": ["n", "u"],
            "additionalProperties": false,
        }),
    );
}

#[test]
fn a7_strict_closes_every_object_and_is_off_for_an_open_map() {
    let inner = json!({"type": "object", "properties": {"k": {"type": "string"}}});
    let seen = reviewed("a7", property(inner));
    let x = &seen["openai-responses-strict"]["schema"]["properties"]["x"];
    assert_eq!(x["additionalProperties"], false);

    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let seen = reviewed("a7-open-map", property(open));
    assert_eq!(seen["openai-responses-strict"]["strict"], false);
    assert_eq!(
        seen["openai-responses-strict"]["fell_back"]["path"],
        "/properties/x"
    );
}

#[test]
fn a9_a_tool_without_arguments_has_properties() {
    let seen = reviewed("a9", json!({"type": "object"}));
    assert_eq!(
        seen["groq"]["schema"],
        json!({"type": "object", "properties": {}})
    );
}

#[test]
fn a10_the_name_of_the_dialect_stays_at_home() {
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    let seen = reviewed("a10", json!({"$schema": dialect, "type": "object"}));
    assert!(seen["openai-chat"]["schema"].get("$schema").is_none());
}

#[test]
fn a11_an_open_object_has_properties_too() {
    let seen = reviewed("a11", json!({"type": "object", "additionalProperties": {}}));
    assert_eq!(
        seen["anthropic"]["schema"],
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
    );
}

#[test]
fn a13_an_array_says_what_its_items_are() {
    let seen = reviewed("a13", property(json!({"type": "array"})));
    assert_eq!(
        seen["openai-chat"]["schema"]["properties"]["x"]["items"],
        json!({})
    );
}

#[test]
fn a14_a_schema_that_nothing_fits_is_quarantined() {
    for (report, schema) in [
        ("a14", json!({"enum": ["A", "B"], "type": "null"})),
        ("a14-array", json!({"enum": ["A"], "type": "array"})),
    ] {
        let seen = reviewed(report, property(schema));
        let said = seen["anthropic"]["quarantined"].as_str().expect("a reason");
        assert!(said.contains("/properties/x"), "{said}");
    }
}

#[test]
fn a15_gemini_gets_integers_in_words() {
    let seen = reviewed(
        "a15",
        property(json!({"type": "integer", "enum": [0, 1, 2, 4]})),
    );
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"],
        json!({"type": "INTEGER", "description": "One of 0, 1, 2, 4."}),
    );
}

#[test]
fn a16_the_type_of_an_enumeration_is_that_of_its_values() {
    let seen = reviewed("a16", property(json!({"enum": ["a", "b"]})));
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"]["type"],
        "STRING"
    );
}

#[test]
fn a17_lists_of_types_and_boolean_schemas_reach_no_provider_that_refuses_them() {
    let items = json!({"type": "array", "items": {"type": ["object", "null"]}});
    let seen = reviewed("a17", property(items));
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"]["items"]["nullable"],
        true
    );
    reviewed("a17-boolean", property(json!(true)));
}

#[test]
fn a19_keywords_of_another_type_are_dropped_and_a_missing_type_is_named() {
    let seen = reviewed("a19", property(json!({"type": "string", "properties": {}})));
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"],
        json!({"type": "STRING"})
    );
    let untyped = json!({"properties": {"a": {"type": "string"}}});
    let seen = reviewed("a19-untyped", property(untyped));
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"]["type"],
        "OBJECT"
    );
}

#[test]
fn a21_keywords_that_gemini_does_not_know_stand_in_words() {
    let number = json!({"type": "number", "exclusiveMinimum": 0, "default": 1});
    let seen = reviewed("a21", property(number));
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"],
        json!({"type": "NUMBER", "minimum": 0, "description": "Default: 1. Greater than 0."}),
    );
    let seen = reviewed("a21-const", property(json!({"const": "v1"})));
    assert_eq!(
        seen["gemini"]["schema"]["properties"]["x"],
        json!({"type": "STRING", "enum": ["v1"]}),
    );
    reviewed(
        "a21-patterns",
        property(json!({"patternProperties": {"^x": {}}})),
    );
}

#[test]
fn a22_an_empty_object_has_something_that_is_taken_out_again() {
    let schema = property(json!({"type": "object", "properties": {}}));
    reviewed("a22", schema.clone());
    let sent = Profile::Gemini
        .project(&tool("reported", schema))
        .expect("it is sent");
    let names = sent.schema()["properties"]["x"]["properties"]
        .as_object()
        .expect("properties");
    let name = names.keys().next().expect("one");
    let restored = sent.inverse().restore(json!({"x": {(name): true, "k": 1}}));
    assert_eq!(restored, json!({"x": {"k": 1}}));
}

#[test]
fn a23_nothing_stands_beside_a_reference() {
    let schema = json!({
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/X", "description": "An x."}},
        "$defs": {"X": {"type": "string"}},
    });
    let seen = reviewed("a23", schema);
    assert_eq!(
        seen["gemini-json"]["schema"]["properties"]["x"],
        json!({"type": "string", "description": "An x."}),
    );
}

#[test]
fn a24_a28_recursion_ends() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"type": "object", "properties": {"c": {"$ref": "#/$defs/N"}}}},
    });
    let seen = reviewed("a24", schema);
    assert!(seen["kimi"]["schema"]["$defs"]["N"].is_object());
    let children = json!({"type": "array", "items": {"$ref": "#"}});
    reviewed(
        "a28",
        json!({"type": "object", "properties": {"children": children}}),
    );
}

#[test]
fn a25_groq_takes_null_for_what_may_be_left_out() {
    let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
    let seen = reviewed("a25", schema.clone());
    assert_eq!(
        seen["groq"]["schema"]["properties"]["limit"]["type"],
        json!(["integer", "null"]),
    );
    let sent = Profile::Groq
        .project(&tool("reported", schema))
        .expect("it is sent");
    assert_eq!(sent.inverse().restore(json!({"limit": null})), json!({}));
}

#[test]
fn a29_the_dialect_is_heard_and_an_unknown_one_is_refused() {
    let tuple = json!({"type": "array", "prefixItems": [{"type": "string"}]});
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"x": tuple},
    });
    let seen = reviewed("a29", old);
    // Draft 7 does not know the keyword, so it never constrained anything.
    assert!(
        seen["anthropic"]["schema"]["properties"]["x"]
            .get("prefixItems")
            .is_none()
    );
    let seen = reviewed(
        "a29-unknown",
        json!({"$schema": "https://example.com/own", "type": "object"}),
    );
    assert!(seen["mcp"]["quarantined"].is_string());
}

#[test]
fn b1_to_b14_names_are_legal_everywhere_and_two_tools_have_two() {
    let server = Source::Server(Namespace::new("s").expect("a namespace"));
    let long = "t".repeat(70);
    let authored = [
        "db.query",
        "get item",
        "a-b",
        "a b",
        long.as_str(),
        "search",
    ];
    let schema = Schema::no_arguments();
    let tools: Vec<Definition> = authored
        .iter()
        .map(|name| {
            let identity = Identity::new(&server, ToolName::new(name).expect("a name"));
            let name = WireName::of(&identity);
            Definition::new(
                name,
                "Does it.",
                schema.clone(),
                None,
                Annotations::default(),
            )
        })
        .collect();
    for profile in Profile::ALL {
        let list = profile.tools(&tools);
        assert!(list.quarantined().is_empty(), "{profile}");
        assert_eq!(list.tools().len(), authored.len(), "{profile}");
        for tool in &tools {
            assert!(
                list.get(tool.name.as_str()).is_some(),
                "{profile} {}",
                tool.name
            );
        }
    }
}

#[test]
fn constants_of_alternatives_become_values_each_of_them_once() {
    let branch = |kind: &str, text: &str| json!({"properties": {"kind": {"const": kind, "description": text}}, "required": ["kind"]});
    let branches = json!([branch("a", "1"), branch("b", "2"), branch("a", "3")]);
    let sent =
        Profile::Anthropic.project(&tool("kinds", json!({"type": "object", "anyOf": branches})));
    let sent = sent.expect("it is sent");
    assert_eq!(
        sent.schema()["properties"]["kind"]["enum"],
        json!(["a", "b"])
    );
}

#[test]
fn a_new_name_is_none_that_stands_already() {
    let plain = json!({"type": "string"});
    let properties = json!({"a b": plain, "a_b_1": plain});
    let schema = json!({"type": "object", "properties": properties});
    let sent = Profile::Anthropic.project(&tool("names", schema));
    let sent = sent.expect("it is sent");
    let given = json!({"a_b_1": "own", "a_b_2": "new"});
    let restored = sent.inverse().restore(given);
    assert_eq!(restored, json!({"a_b_1": "own", "a b": "new"}));
}

#[test]
fn a_pattern_that_not_every_engine_reads_is_dropped() {
    for (pattern, kept) in [("^a{100}$", true), ("^a{101}$", false), (r"\bword", false)] {
        let schema = json!({"type": "object", "required": ["x"],
            "properties": {"x": {"type": "string", "pattern": pattern}}});
        let sent = Profile::OpenAiChatStrict.project(&tool("pattern", schema));
        let sent = sent.expect("it is sent");
        let stands = sent.schema()["properties"]["x"].get("pattern").is_some();
        assert_eq!(stands, kept, "{pattern}");
    }
}
