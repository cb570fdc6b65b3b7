use serde_json::json;

use super::of;

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
        let counted = of(&value);
        assert!(counted <= exactly, "{value}: {counted} and not {exactly}");
        assert!(
            3 * counted >= exactly || exactly < 12,
            "{value}: {counted} of {exactly}"
        );
    }
}
