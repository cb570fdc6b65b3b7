//! The laws and their guards.

use xtask::{SourceFile, laws};

use crate::says;

const GUARD: &str = "crates/a/tests/it/b.rs";
const TESTS: &str = "\
#[test]
fn it_holds() {}

proptest! {
    /// Shuffled.
    #[test]
    fn it_always_holds(x in 0..9) {}
}

#[cfg(test)]
fn no_test() {}

#[tokio::test(start_paused = true)]
// Comments may stand between.
async fn it_holds_in_time() {}
";

/// A page in which every law has the guard, but for what is replaced.
fn page(replaced: &[(usize, &str)]) -> Vec<SourceFile> {
    let mut page = "| # | law | guarded by |\n|---|---|---|\n".to_owned();
    for (at, law) in laws::LAWS.iter().enumerate() {
        let guard = format!("`it_holds` in `{GUARD}`");
        let row = replaced.iter().find(|(number, _)| *number == at + 1);
        let guard = row.map_or(guard.as_str(), |(_, text)| text);
        page += &format!("| {} | {law} | {guard} |\n", at + 1);
    }
    vec![
        SourceFile::new("ARCHITECTURE.md", page),
        SourceFile::new(GUARD, TESTS),
    ]
}

#[test]
fn every_kind_of_test_is_a_guard() {
    let more = "`it_always_holds` in `crates/a/tests/it/b.rs`, `it_holds_in_time` in `crates/a/tests/it/b.rs`";
    says(&laws::check(&page(&[(2, more)])), "");
}

#[test]
fn a_guard_that_is_gone_is_found() {
    says(
        &laws::check(&page(&[
            (1, "`it_held` in `crates/a/tests/it/b.rs`"),
            (2, "`it_holds` in `crates/a/tests/it/gone.rs`"),
            (3, "`no_test` in `crates/a/tests/it/b.rs`"),
        ])),
        "
law: ARCHITECTURE.md:3: crates/a/tests/it/b.rs has no test `it_held`
law: ARCHITECTURE.md:4: there is no crates/a/tests/it/gone.rs, in which `it_holds` should stand
law: ARCHITECTURE.md:5: crates/a/tests/it/b.rs has no test `no_test`",
    );
}

#[test]
fn a_guard_outside_the_table_is_looked_for_too() {
    let mut files = page(&[]);
    files[0].text += "\nIt never\nblocks (`it_never_blocks` in\n`crates/a/tests/it/b.rs`).\n";
    says(
        &laws::check(&files),
        "law: ARCHITECTURE.md:19: crates/a/tests/it/b.rs has no test `it_never_blocks`",
    );
}

#[test]
fn a_law_without_a_guard_says_what_will_bring_one_and_is_listed() {
    let files = page(&[(11, "unguarded: provider profiles")]);
    says(&laws::check(&files), "");
    assert_eq!(
        laws::unguarded(&files),
        ["law 11 (Superset projection) is unguarded: provider profiles"]
    );
    says(
        &laws::check(&page(&[(11, "unguarded")])),
        "law: ARCHITECTURE.md:13: law 11 names no guard; write `test` in `file`, \
         or \"unguarded: \" and what will bring one",
    );
}

#[test]
fn every_law_has_its_row_and_no_row_is_made_up() {
    let mut files = page(&[]);
    files[0].text = files[0].text.replace("Stable lists", "Stable lasts");
    says(
        &laws::check(&files),
        "
law: ARCHITECTURE.md: law 12 (Stable lists) has no row
law: ARCHITECTURE.md:14: there is no law \"Stable lasts\"",
    );
}
