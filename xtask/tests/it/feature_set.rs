//! The feature sets in which a crate has to compile.

use xtask::{CrateNode, FeatureSet};

#[track_caller]
fn sets(node: &CrateNode, expected: &[&str]) {
    let names: Vec<String> = FeatureSet::of(node)
        .into_iter()
        .map(|set| set.name)
        .collect();
    assert_eq!(names, expected);
}

#[test]
fn a_crate_without_features_has_one_set() {
    sets(&CrateNode::new("a"), &["default"]);
    sets(&CrateNode::new("a").feature("default", &[]), &["default"]);
}

#[test]
fn a_crate_with_features_compiles_with_all_with_none_and_with_each_alone() {
    let node = CrateNode::new("a").feature("x", &[]).feature("y", &["x"]);
    sets(
        &node.clone().feature("default", &["x"]),
        &["default", "all features", "no features", "only x", "only y"],
    );
    // With nothing on by default, no features and the default are the same.
    sets(&node, &["default", "all features", "only x", "only y"]);
}
