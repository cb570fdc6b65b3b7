//! What the lower crates pull in.

use xtask::{CrateNode, DependencyKind, Graph, LayerTable, LockFile, fence};

use crate::says;

const TABLE: &str = "\
| layer | crate | may depend on |
|---|---|---|
| L0 | `base` | - |
| L1 | `part` | `base` |
| L1 | `tool-storage` | `base` |
| L2 | `wire` | `base` |
";

/// A lock file from lines of the form `package: what it pulls in`.
fn lock(lines: &str) -> LockFile {
    let mut text = String::new();
    for line in lines.lines() {
        let (name, pulls) = line.split_once(':').unwrap();
        let pulls: Vec<String> = pulls
            .split_whitespace()
            .map(|it| format!("{it:?}"))
            .collect();
        text += &format!(
            "[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\ndependencies = [{}]\n",
            pulls.join(", ")
        );
    }
    LockFile::parse(&text).unwrap()
}

#[track_caller]
fn check(crates: impl IntoIterator<Item = CrateNode>, locked: &str, expected: &str) {
    let table = LayerTable::parse(TABLE).unwrap();
    let findings = fence::check(&table, &Graph::new(crates), &lock(locked)).unwrap();
    says(&findings, expected);
}

#[test]
fn a_runtime_anywhere_below_the_core_is_found_with_the_way_to_it() {
    check(
        [CrateNode::new("base").needs_foreign("far", &[])],
        "base: far\nfar: further\nfurther: tokio\ntokio:",
        "heavy tree: Cargo.lock: base -> far -> further -> tokio",
    );
}

#[test]
fn http_and_tls_stay_out_of_the_lower_layers() {
    let part = CrateNode::new("part").needs_foreign("tokio", &["sync", "time"]);
    check(
        [part.needs_foreign("client", &[])],
        "part: tokio client\ntokio:\nclient: hyper rustls\nhyper: tokio\nrustls:",
        "
heavy tree: Cargo.lock: part -> client -> hyper
heavy tree: Cargo.lock: part -> client -> rustls",
    );
}

#[test]
fn tokio_spawns_nothing_below_the_adapters() {
    let part = CrateNode::new("part")
        .needs_foreign("tokio", &["sync", "rt"])
        .feature("fast", &["tokio/process", "dep:other"]);
    check(
        [part],
        "part: tokio\ntokio:",
        "
heavy tree: crates/part/Cargo.toml: asks for tokio's `process`; this layer takes only sync and time
heavy tree: crates/part/Cargo.toml: asks for tokio's `rt`; this layer takes only sync and time",
    );
}

#[test]
fn a_feature_may_bring_in_the_client_of_object_stores_and_nothing_else_may() {
    let storage = || CrateNode::new("tool-storage");
    let locked = "tool-storage: object_store\nobject_store: hyper\nhyper:";
    let found = "heavy tree: Cargo.lock: tool-storage -> object_store -> hyper";
    let by_feature = storage()
        .needs_optional("object_store")
        .feature("object-store", &["dep:object_store"])
        .feature("s3", &["object-store", "object_store/aws"]);
    check([by_feature.clone()], locked, "");
    // Always, or by default, on whatever way, it is as heavy as any other.
    check(
        [storage().needs_foreign("object_store", &[])],
        locked,
        found,
    );
    for default in [
        "object-store",
        "s3",
        "object_store/aws",
        "object_store?/aws",
    ] {
        let by_default = by_feature.clone().feature("default", &[default]);
        let expected = if default.contains('?') { "" } else { found };
        check([by_default], locked, expected);
    }
    let other = CrateNode::new("part").needs_optional("object_store");
    check(
        [other],
        "part: object_store\nobject_store: hyper\nhyper:",
        "heavy tree: Cargo.lock: part -> object_store -> hyper",
    );
}

#[test]
fn what_only_tests_pull_in_is_free() {
    let base = CrateNode::new("base").needs("hyper", DependencyKind::Dev);
    check([base], "base: hyper\nhyper: tokio\ntokio:", "");
}

#[test]
fn the_adapters_may_speak_http() {
    let wire = CrateNode::new("wire").needs_foreign("axum", &[]);
    check([wire], "wire: axum\naxum: hyper\nhyper:", "");
}

#[test]
fn two_versions_of_a_package_are_told_apart() {
    let locked = LockFile::parse(
        r#"
[[package]]
name = "base"
version = "0.1.0"
dependencies = ["far 2.0.0"]
[[package]]
name = "far"
version = "1.0.0"
dependencies = ["tokio"]
[[package]]
name = "far"
version = "2.0.0"
[[package]]
name = "tokio"
version = "1.0.0"
"#,
    )
    .unwrap();
    assert_eq!(locked.tree("base", &["far"]).unwrap(), [["far"]]);
}

#[test]
fn a_name_that_the_lock_file_lacks_is_no_proof_of_absence() {
    let locked = lock("base: far\nfar:");
    let unknown = locked.tree("bass", &[]).unwrap_err().to_string();
    assert_eq!(unknown, "Cargo.lock does not list bass");
    let stale = locked.tree("base", &["near"]).unwrap_err().to_string();
    assert_eq!(
        stale,
        "Cargo.lock does not list near below base; is it up to date?"
    );
}
