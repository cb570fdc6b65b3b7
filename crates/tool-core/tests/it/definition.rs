//! What is advertised, byte for byte.

use serde_json::json;
use tool_core::{Annotations, Definition, Identity, Schema, Source, ToolName, WireName};

fn definition() -> Definition {
    let identity = Identity::new(&Source::Host, ToolName::new("grep").unwrap());
    Definition::new(
        WireName::of(&identity),
        "Search",
        Schema::no_arguments(),
        None,
        Annotations::default(),
    )
}

#[test]
fn a_definition_is_written_in_one_order() {
    assert_eq!(
        serde_json::to_string(&definition()).unwrap(),
        r#"{"name":"grep","description":"Search","inputSchema":{"additionalProperties":false,"properties":{},"type":"object"},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}"#
    );
    let mut whole = definition();
    whole.output = Some(Schema::new(json!({"type": "string"})).unwrap());
    whole.annotations.title = Some("Grep".to_owned());
    whole.annotations.strict = Some(false);
    let text = serde_json::to_string(&whole).unwrap();
    assert!(text.contains(r#""outputSchema":{"type":"string"},"annotations":{"title":"Grep","#));
    assert!(text.ends_with(r#","strict":false}}"#));
}

#[test]
fn every_part_of_a_definition_is_in_its_digest() {
    let plain = definition();
    assert_eq!(plain.digest(), definition().digest());
    let changes: [fn(&mut Definition); 6] = [
        |it| it.description.push('.'),
        |it| it.input = Schema::input(json!({"type": "object"})).unwrap(),
        |it| it.output = Some(Schema::new(json!(true)).unwrap()),
        |it| it.annotations.title = Some(String::new()),
        |it| it.annotations.open_world = false,
        |it| it.annotations.strict = Some(false),
    ];
    let mut digests = vec![plain.digest()];
    for change in changes {
        let mut changed = definition();
        change(&mut changed);
        digests.push(changed.digest());
    }
    let renamed = Identity::new(&Source::Host, ToolName::new("grap").unwrap());
    let mut changed = definition();
    changed.name = WireName::of(&renamed);
    digests.push(changed.digest());
    let all = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), all);
}

#[test]
fn hints_are_read_back_and_what_is_not_said_is_the_default() {
    let hints: Annotations = serde_json::from_value(json!({"readOnlyHint": true})).unwrap();
    assert!(hints.read_only && hints.destructive && hints.open_world);
    let text = serde_json::to_string(&hints).unwrap();
    assert_eq!(serde_json::from_str::<Annotations>(&text).unwrap(), hints);
}
