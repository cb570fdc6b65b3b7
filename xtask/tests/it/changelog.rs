//! The first entry of the changelog.

use xtask::changelog::check;

use crate::says;

#[test]
fn the_next_version_and_the_present_one_may_come_first() {
    for title in ["Unreleased", "[Unreleased]", "0.1.0 - 2026-12-24"] {
        says(&check(&format!("# Changelog\n\n## {title}\n"), "0.1.0"), "");
    }
}

#[test]
fn an_older_version_may_not_come_first() {
    says(
        &check("# Changelog\n\n## 0.0.9\n", "0.1.0"),
        "docs: CHANGELOG.md:3: the first entry is neither Unreleased nor 0.1.0",
    );
}

#[test]
fn a_changelog_has_an_entry() {
    says(
        &check("# Changelog\n", "0.1.0"),
        "docs: CHANGELOG.md: there is no entry",
    );
}
