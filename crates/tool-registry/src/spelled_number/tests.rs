use super::whole_numbers_are_exact;

#[test]
fn a_number_is_exact_where_no_digit_is_lost() {
    for text in [
        "5.0",
        "-5.0",
        "1e1",
        "12.00",
        "0.0",
        "-0",
        "0e99999999999999999999",
        "1.5",
        "150e-1",
        "1.25e2",
        "1e18",
        "9007199254740992.0",
        "1e300",
        r#"{"a":"5.00000000000000000001","b":[2.0]}"#,
    ] {
        assert!(whole_numbers_are_exact(text), "{text}");
    }
}

#[test]
fn a_number_is_not_exact_where_a_digit_is_lost() {
    for text in [
        "5.00000000000000000001",
        "9007199254740993.0",
        "9007199254740991.4",
        "1e-400",
        r#"{"a":[1.5,-0.99999999999999999999]}"#,
    ] {
        assert!(!whole_numbers_are_exact(text), "{text}");
    }
}
