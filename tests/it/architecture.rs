//! Dependencies go downward: this workspace obeys, and graphs that do not are refused.

use std::path::Path;

use xtask::{CrateNode, DependencyKind, Finding, Graph, LayerTable, Rule, Workspace};
use xtask::{arch, listed, rules};

/// What the rule finds in this workspace.
#[track_caller]
fn holds(rule: Rule) {
    let findings = rules::arch(&Workspace::here()).expect("the workspace can be read");
    let of_rule: Vec<Finding> = findings.into_iter().filter(|it| it.rule == rule).collect();
    assert!(of_rule.is_empty(), "\n{}\n", listed(&of_rule));
}

#[test]
fn no_dependency_goes_upward_or_sideways() {
    holds(Rule::ForbiddenEdge);
}

#[test]
fn every_crate_has_a_row_in_the_layer_table() {
    holds(Rule::UnplacedCrate);
}

#[test]
fn no_row_of_the_layer_table_is_stale() {
    holds(Rule::StaleRow);
}

#[test]
fn the_facade_holds_every_published_crate_below_it() {
    holds(Rule::ThinFacade);
}

#[test]
fn no_lower_crate_pulls_in_a_runtime_http_or_tls() {
    holds(Rule::HeavyTree);
}

const TABLE: &str = "\
| layer | crate | may depend on |
|---|---|---|
| L0 | `core` | - |
| L1 | `left` | `core` |
| L1 | `right` | `core` |
| L3 | `facade` | `core`, `left`, `right` |
| test | `kit` | `core` |
| - | `workspace-tests` | `facade`, `xtask` |
| - | `xtask` | - |
";

use DependencyKind::{Build, Dev, Normal};

/// Crates that fit the table.
fn fitting() -> Vec<CrateNode> {
    vec![
        CrateNode::new("core").needs("kit", Dev),
        CrateNode::new("left").needs("core", Normal),
        CrateNode::new("right").needs("core", Normal),
        CrateNode::new("facade")
            .needs("core", Normal)
            .needs("left", Normal)
            .needs("right", Normal),
        CrateNode::new("kit").needs("core", Normal),
        CrateNode::new("workspace-tests")
            .unpublished()
            .needs("facade", Dev)
            .needs("xtask", Dev),
        CrateNode::new("xtask").unpublished(),
    ]
}

/// The findings once one of the fitting crates has a further dependency.
#[track_caller]
fn with_edge(from: &str, to: &str, kind: DependencyKind, expected: &str) {
    let crates = fitting().into_iter().map(|node| {
        if node.name == from {
            node.needs(to, kind)
        } else {
            node
        }
    });
    finds(TABLE, crates, expected);
}

#[track_caller]
fn finds(table: &str, crates: impl IntoIterator<Item = CrateNode>, expected: &str) {
    let table = LayerTable::parse(table).expect("the fixture is a table");
    let findings = arch::check(&table, &Graph::new(crates));
    assert_eq!(listed(&findings), expected.trim());
}

#[test]
fn crates_that_fit_their_table_pass() {
    finds(TABLE, fitting(), "");
}

#[test]
fn an_upward_dependency_is_refused() {
    with_edge(
        "core",
        "facade",
        Normal,
        "forbidden edge: ARCHITECTURE.md:3: `core` (layer L0) has a normal dependency on `facade` \
         (layer L3), which its row does not allow",
    );
}

#[test]
fn a_dependency_of_a_build_script_counts() {
    with_edge(
        "left",
        "right",
        Build,
        "forbidden edge: ARCHITECTURE.md:4: `left` (layer L1) has a build dependency on `right` \
         (layer L1), which its row does not allow",
    );
}

#[test]
fn an_upward_dependency_of_tests_is_refused() {
    with_edge(
        "core",
        "left",
        Dev,
        "forbidden edge: ARCHITECTURE.md:3: `core` (layer L0) has a dev dependency on `left` \
         (layer L1), which its row does not allow",
    );
}

#[test]
fn tests_may_look_further_down_and_at_the_test_kit() {
    with_edge("facade", "kit", Dev, "");
    with_edge("left", "core", Dev, "");
}

#[test]
fn a_test_kit_is_never_shipped() {
    with_edge(
        "left",
        "kit",
        Normal,
        "forbidden edge: ARCHITECTURE.md:4: `left` (layer L1) has a normal dependency on `kit` \
         (layer test), which its row does not allow",
    );
}

#[test]
fn nothing_of_the_product_depends_on_its_automation() {
    with_edge(
        "facade",
        "xtask",
        Dev,
        "forbidden edge: ARCHITECTURE.md:6: `facade` (layer L3) has a dev dependency on `xtask` \
         (layer -), which its row does not allow",
    );
}

#[test]
fn a_cycle_is_refused_where_it_goes_up() {
    with_edge(
        "core",
        "left",
        Normal,
        "forbidden edge: ARCHITECTURE.md:3: `core` (layer L0) has a normal dependency on `left` \
         (layer L1), which its row does not allow",
    );
}

#[test]
fn a_dependency_on_an_unknown_crate_is_refused() {
    with_edge(
        "left",
        "stranger",
        Normal,
        "forbidden edge: ARCHITECTURE.md:4: `left` (layer L1) has a normal dependency on `stranger` \
         (no layer), which its row does not allow",
    );
}

#[test]
fn a_crate_without_a_row_is_refused() {
    let crates = fitting()
        .into_iter()
        .chain([CrateNode::new("new").needs("core", Normal)]);
    finds(
        TABLE,
        crates,
        "crate without a row: ARCHITECTURE.md: `new` is a crate of this repository, and the layer \
         table does not list it",
    );
}

#[test]
fn a_row_of_a_crate_that_is_gone_is_stale() {
    let table = format!("{TABLE}| L1 | `rihgt` | `core` |\n");
    finds(
        &table,
        fitting(),
        "stale row: ARCHITECTURE.md:10: there is no crate `rihgt`; take its row out",
    );
}

#[test]
fn an_allowance_that_nothing_uses_is_stale() {
    let table = TABLE.replace("`xtask` | - |", "`xtask` | `core` |");
    finds(
        &table,
        fitting(),
        "stale row: ARCHITECTURE.md:9: `xtask` may depend on `core` and does not; take the \
         allowance out",
    );
}

#[test]
fn what_only_tests_use_is_no_reason_for_an_allowance() {
    let crates = fitting().into_iter().map(|node| {
        if node.name == "kit" {
            CrateNode::new("kit").needs("core", Dev)
        } else {
            node
        }
    });
    finds(
        TABLE,
        crates,
        "stale row: ARCHITECTURE.md:7: `kit` may depend on `core` and does not; take the \
         allowance out",
    );
}

#[test]
fn a_table_cannot_allow_what_the_layers_forbid() {
    let table = TABLE.replace("| `left` | `core` |", "| `left` | `core`, `right` |");
    let crates = fitting().into_iter().map(|node| {
        if node.name == "left" {
            node.needs("right", Normal)
        } else {
            node
        }
    });
    finds(
        &table,
        crates,
        "forbidden edge: ARCHITECTURE.md:4: the row of `left` (layer L1) allows `right` (layer L1), \
         which is not below it",
    );
}

#[test]
fn a_facade_without_a_published_crate_is_refused() {
    let table = TABLE.replace("`core`, `left`, `right` |", "`core`, `left` |");
    let crates = fitting().into_iter().map(|node| {
        if node.name == "facade" {
            CrateNode::new("facade")
                .needs("core", Normal)
                .needs("left", Normal)
        } else {
            node
        }
    });
    finds(
        &table,
        crates,
        "thin facade: ARCHITECTURE.md:6: `facade` does not hold `right`; whatever is published \
         below the facade is in it",
    );
}

#[test]
fn renamed_optional_and_target_specific_dependencies_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let core = "\
[features]
quick = [\"dep:side\"]
[dependencies]
side = { package = \"left\", path = \"../left\", optional = true }
[target.'cfg(windows)'.dependencies]
right = { path = \"../right\" }
";
    member(folder.path(), "core", core);
    member(folder.path(), "left", "");
    member(folder.path(), "right", "");
    write(
        &folder.path().join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"core\", \"left\", \"right\"]\n",
    );
    let graph = Workspace::at(folder.path())
        .graph()
        .expect("cargo reads the fixture");
    let table = LayerTable::parse(TABLE).expect("the fixture is a table");
    let edges: Vec<Finding> = arch::check(&table, &graph)
        .into_iter()
        .filter(|finding| finding.rule == Rule::ForbiddenEdge)
        .collect();
    assert_eq!(
        listed(&edges),
        "forbidden edge: ARCHITECTURE.md:3: `core` (layer L0) has a normal dependency on `left` \
         (layer L1), which its row does not allow\n\
         forbidden edge: ARCHITECTURE.md:3: `core` (layer L0) has a normal dependency on `right` \
         (layer L1), which its row does not allow"
    );
}

#[track_caller]
fn member(workspace: &Path, name: &str, rest: &str) {
    let folder = workspace.join(name);
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    write(&folder.join("src/lib.rs"), "");
    let package =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    write(&folder.join("Cargo.toml"), &(package + rest));
}

#[track_caller]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the fixture is written");
}
