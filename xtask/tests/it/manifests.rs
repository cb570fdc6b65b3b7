//! What is said once for all members.

use xtask::SourceFile;
use xtask::manifests::{Manifests, check};

use crate::says;

const ROOT: &str = r#"
[workspace.package]
version = "0.1.0"
[workspace.dependencies]
tool-a = { path = "crates/tool-a", version = "0.1.0" }
serde = "1.0"
"#;

const INHERITED: &str = "\
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
repository.workspace = true
";

fn published(rest: &str) -> String {
    format!(
        "[package]\nname = \"tool-a\"\ndescription = \"A.\"\nreadme = \"README.md\"\n\
         categories.workspace = true\n{INHERITED}{rest}"
    )
}

fn kept(name: &str, rest: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\npublish = false\n{INHERITED}[lints]\nworkspace = true\n{rest}"
    )
}

#[track_caller]
fn checked(root: &str, published: &str, expected: &str) {
    let members = [
        SourceFile::new("crates/tool-a/Cargo.toml", published),
        SourceFile::new(
            "examples/Cargo.toml",
            kept("examples", "[dependencies]\ntool-a.workspace = true\n"),
        ),
        SourceFile::new("tests/Cargo.toml", kept("workspace-tests", "")),
        SourceFile::new("xtask/Cargo.toml", kept("xtask", "")),
    ];
    says(&check(&Manifests::parse(root, &members).unwrap()), expected);
}

const GOOD: &str =
    "[lints]\nworkspace = true\n[dependencies]\nserde = { workspace = true, optional = true }\n";

#[test]
fn a_member_that_inherits_everything_passes() {
    checked(ROOT, &published(GOOD), "");
}

#[test]
fn a_key_and_the_lints_of_its_own_are_found() {
    let own = published("[dependencies]\nserde.workspace = true\n")
        .replace("edition.workspace = true", "edition = \"2021\"");
    checked(
        ROOT,
        &own,
        "
manifest: crates/tool-a/Cargo.toml: `edition` is not inherited from the workspace
manifest: crates/tool-a/Cargo.toml: the lints are not inherited from the workspace",
    );
}

#[test]
fn a_dependency_with_a_version_of_its_own_is_found_in_every_table() {
    let own = format!(
        "{GOOD}[dev-dependencies]\nproptest = \"1\"\n\
         [target.'cfg(unix)'.build-dependencies]\ncc = {{ version = \"1\" }}\n"
    );
    checked(
        ROOT,
        &published(&own),
        "
manifest: crates/tool-a/Cargo.toml: dependency `cc` is not `workspace = true`
manifest: crates/tool-a/Cargo.toml: dependency `proptest` is not `workspace = true`",
    );
}

#[test]
fn what_is_never_published_is_a_closed_list() {
    let hidden = published(GOOD).replace("[lints]", "publish = false\n[lints]");
    checked(
        ROOT,
        &hidden,
        "manifest: crates/tool-a/Cargo.toml: is kept from being published and not on the list of those",
    );
    let renamed = published(GOOD).replace("tool-a", "xtask");
    let members = [SourceFile::new("xtask/Cargo.toml", renamed)];
    let findings = check(&Manifests::parse("[workspace.package]\n", &members).unwrap());
    says(
        &findings,
        "
manifest: Cargo.toml: there is no `examples`, and it is on the list of what is never published
manifest: Cargo.toml: there is no `workspace-tests`, and it is on the list of what is never published
manifest: xtask/Cargo.toml: has to say `publish = false`",
    );
}

#[test]
fn the_workspace_offers_what_members_use_and_crates_at_its_own_version() {
    let root = ROOT.replace(", version = \"0.1.0\" }", ", version = \"0.0.9\" }") + "url = \"2\"\n";
    checked(
        &root,
        &published(GOOD),
        "
manifest: Cargo.toml: `tool-a` does not carry the version of the workspace beside its path
unused dependency: Cargo.toml: no member uses `url`",
    );
}
