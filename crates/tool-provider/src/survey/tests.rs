use serde_json::json;

use super::Survey;

#[test]
fn no_value_is_counted_as_longer_than_it_is() {
    for value in [
        json!(null),
        json!(true),
        json!(-1.5e300),
        json!(7),
        json!(""),
        json!("a \"quoted\" \u{1} text"),
        json!([]),
        json!([1]),
        json!([[], {}, "x"]),
        json!({}),
        json!({"a": {"b": []}, "c": false}),
    ] {
        let exactly = value.to_string().len();
        let counted = Survey::of(&value).bytes;
        assert!(counted <= exactly, "{value}: {counted} and not {exactly}");
        assert!(
            3 * counted >= exactly || exactly < 12,
            "{value}: {counted} of {exactly}"
        );
    }
}

#[test]
fn whatever_refers_names_a_place_or_enumerates_is_seen_at_any_depth() {
    for (value, refers, enumerates) in [
        (
            json!({"$schema": "x", "properties": {"id": {}}}),
            false,
            false,
        ),
        (json!({"items": [{"$ref": "#"}]}), true, false),
        (json!({"properties": {"a": {"$id": "x"}}}), true, false),
        (json!({"properties": {"a": {"id": "x"}}}), true, false),
        (json!({"anyOf": [{"$anchor": "x"}]}), true, false),
        (json!({"items": {"enum": []}}), false, true),
        (json!({"items": {"const": null}}), false, true),
    ] {
        let survey = Survey::of(&value);
        assert_eq!(
            (survey.refers, survey.enumerates),
            (refers, enumerates),
            "{value}"
        );
    }
}
