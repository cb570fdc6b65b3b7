//! Links between pages.

use xtask::links::check;

use crate::{files, says};

const LINKED: &str = "[a](docs/a.md) [b](docs/a.md#part-two) [c](docs/) [d](https://example.org/x)\n\
                      [e](#title) [f](crate::Item) ![g](docs/picture.svg)\n";

#[test]
fn links_that_lead_somewhere_pass() {
    let tree = files(&[
        ("README.md", &format!("# Title\n{LINKED}")),
        (
            "docs/a.md",
            "# A\n## Part *two*\n[up](../README.md#title)\n",
        ),
        ("docs/picture.svg", "<svg/>"),
    ]);
    says(&check(&tree), "");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let tree = files(&[
        (
            "README.md",
            "# Title\n[a](docs/b.md)\n[b](docs/a.md#none)\n[c](../x.md)\n",
        ),
        (
            "docs/a.md",
            "[a](a.md#part)\n```text\n[not one](gone.md)\n```\n",
        ),
    ]);
    says(
        &check(&tree),
        "
link: README.md:2: docs/b.md leads to no file of the repository
link: README.md:3: docs/a.md has no heading #none
link: README.md:4: ../x.md leaves the repository
link: docs/a.md:1: docs/a.md has no heading #part",
    );
}
