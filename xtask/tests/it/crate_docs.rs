//! Pages against manifests.

use xtask::{CrateNode, Graph, LayerTable, SourceFile, crate_docs};

use crate::{files, says};

const ARCHITECTURE: &str = "\
| layer | crate | may depend on |
|---|---|---|
| L0 | `tool-core` | - |
| L3 | `tool-runtime` | `tool-core` |

### `tool-core`
### `tool-runtime`
";

const FEATURES: &str = "\
| feature | default | adds |
|---|---|---|
| `disk` | yes | files |
| `net` | yes | sockets |
| `odd` | no | more |
";

const README: &str = "\
| crate | layer | use it when |
|---|---|---|
| `tool-core` | L0 | you define |
| `tool-runtime` | L3 | you run |

```text
cargo xtask ci
```
";

fn good() -> Vec<SourceFile> {
    files(&[
        ("ARCHITECTURE.md", ARCHITECTURE),
        ("README.md", &format!("{README}\n{FEATURES}")),
        ("crates/tool-runtime/README.md", FEATURES),
        (".ci/run", "set -e\ncargo xtask ci\n"),
    ])
}

/// The findings once a text of one file is replaced.
#[track_caller]
fn after(path: &str, from: &str, to: &str, expected: &str) {
    let graph = Graph::new([
        CrateNode::new("tool-core"),
        CrateNode::new("tool-runtime")
            .feature("default", &["net"])
            .feature("net", &["disk", "dep:x"])
            .feature("disk", &[])
            .feature("odd", &[]),
        CrateNode::new("xtask").unpublished(),
    ]);
    let mut files = good();
    let file = files.iter_mut().find(|file| file.path == path).unwrap();
    assert!(file.text.contains(from));
    file.text = file.text.replacen(from, to, 1);
    let table = LayerTable::parse(ARCHITECTURE).unwrap();
    says(&crate_docs::check(&files, &table, &graph), expected);
}

#[test]
fn pages_that_say_what_the_manifests_say_pass() {
    after("README.md", "you run", "you run it", "");
}

#[test]
fn the_crate_map_names_every_published_crate_and_no_other() {
    after(
        "README.md",
        "| `tool-core` | L0 | you define |",
        "| `tool-cork` | L0 | you define |\n| `xtask` | - | never |",
        "
docs: README.md: the crate map lacks `tool-core`
docs: README.md:3: there is no published crate `tool-cork`
docs: README.md:4: there is no published crate `xtask`",
    );
}

#[test]
fn the_crate_map_has_the_layers_of_the_table() {
    after(
        "README.md",
        "`tool-core` | L0",
        "`tool-core` | L1",
        "docs: README.md:3: `tool-core` stands in layer L0",
    );
}

#[test]
fn a_feature_table_is_the_manifest() {
    after(
        "crates/tool-runtime/README.md",
        "| `odd` | no | more |",
        "| `old` | no | more |",
        "
docs: crates/tool-runtime/README.md: the table lacks the feature `odd`
docs: crates/tool-runtime/README.md:5: `tool-runtime` has no feature `old`",
    );
    after(
        "README.md",
        "| `disk` | yes",
        "| `disk` | no",
        "docs: README.md:12: the default of feature `disk` is \"yes\"",
    );
}

#[test]
fn a_crate_with_features_lists_them() {
    after(
        "crates/tool-runtime/README.md",
        "feature",
        "flag",
        "docs: crates/tool-runtime/README.md: there is no table of the features of `tool-runtime`",
    );
}

#[test]
fn every_crate_has_a_chapter() {
    after(
        "ARCHITECTURE.md",
        "### `tool-core`",
        "### core",
        "docs: ARCHITECTURE.md: there is no chapter `tool-core`",
    );
}

#[test]
fn a_page_that_nobody_will_read_to_its_end_is_found() {
    after(
        "ARCHITECTURE.md",
        "### `tool-core`",
        &format!("### `tool-core`{}", "\n".repeat(300)),
        "docs: ARCHITECTURE.md: 307 lines, the most is 300",
    );
}

#[test]
fn the_script_of_ci_ends_with_the_command_of_the_readme() {
    after(
        ".ci/run",
        "cargo xtask ci",
        "cargo test",
        "docs: .ci/run: does not end with `cargo xtask ci`",
    );
    after(
        "README.md",
        "cargo xtask ci",
        "cargo test",
        "docs: README.md: does not show `cargo xtask ci`",
    );
}
