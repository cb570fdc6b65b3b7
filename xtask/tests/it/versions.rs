//! Versions that pages name.

use xtask::versions::check;

use crate::{files, says};

#[test]
fn versions_of_the_manifest_pass_in_full_and_cut_short() {
    let page = "tool-runtime = \"0.1\"\n\
                tool-core = { version = \"0.1.0\", default-features = false }\n\
                It is at version 0.1, and needs Rust 1.95.\n\
                tokio = \"1.47\"\n";
    says(&check(&files(&[("README.md", page)]), "0.1.0", "1.95"), "");
}

#[test]
fn a_version_that_was_left_behind_is_found() {
    let page = "tool-runtime = \"0.2\"\n\
                tool-core = { path = \"x\", version = \"0.10.0\" }\n\
                It is at version 0.1.1.\n\
                It needs Rust 1.9.\n";
    says(
        &check(&files(&[("crates/x/README.md", page)]), "0.1.0", "1.95"),
        "
docs: crates/x/README.md:1: names version 0.2, the workspace has 0.1.0
docs: crates/x/README.md:2: names version 0.10.0, the workspace has 0.1.0
docs: crates/x/README.md:3: names version 0.1.1, the workspace has 0.1.0
docs: crates/x/README.md:4: names Rust 1.9, the workspace needs 1.95",
    );
}
