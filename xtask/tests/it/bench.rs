//! What `cargo xtask bench` hands on.

use xtask::BenchOptions;

#[test]
fn everything_is_measured_unless_a_name_is_given() {
    assert!(BenchOptions::default().args().is_empty());
    let named = BenchOptions::new(Some("tools".to_owned()), false);
    assert_eq!(named.args(), ["tools"]);
}

#[test]
fn json_is_asked_for_beside_the_name() {
    let options = BenchOptions::new(Some("pipeline/rig".to_owned()), true);
    assert_eq!(options.args(), ["pipeline/rig", "--json"]);
    assert_eq!(BenchOptions::new(None, true).args(), ["--json"]);
}
