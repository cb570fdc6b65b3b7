//! What no file holds. The marks are written in two halves, as this file is searched too.

use xtask::text::check;

use crate::{files, says};

#[track_caller]
fn one(path: &str, line: &str, expected: &str) {
    says(&check(&files(&[(path, line)])), expected);
}

#[test]
fn unfinished_pieces_are_found() {
    for mark in [concat!("to", "do!"), concat!("un", "implemented!")] {
        one(
            "src/a.rs",
            &format!("fn f() {{ {mark}() }}"),
            &format!("unfinished: src/a.rs:1: \"{mark}\" marks a piece that is not done"),
        );
    }
    one(
        "tests/a.rs",
        concat!("#[ig", "nore = \"slow\"]"),
        concat!(
            "unfinished: tests/a.rs:1: \"#[ig",
            "nore\" marks a piece that is not done"
        ),
    );
    one(
        "README.md",
        concat!("FIX", "ME: later"),
        concat!(
            "unfinished: README.md:1: \"FIX",
            "ME\" marks a piece that is not done"
        ),
    );
}

#[test]
fn a_mark_inside_a_word_is_no_mark() {
    one("a.sh", concat!("mktemp /tmp/out.XX", "XXXX"), "");
    one("notes.md", concat!("the to", "do! list is prose"), "");
}

#[test]
fn paths_of_a_machine_are_found_where_a_path_begins() {
    let folder = concat!("/wo", "rk/");
    one(
        "src/a.rs",
        &format!("let path = \"{folder}main\";"),
        &format!("surroundings: src/a.rs:1: \"{folder}\" is of the machine and not of the project"),
    );
    one("src/a.rs", &format!("let path = \"ws{folder}main\";"), "");
    one(
        "src/a.rs",
        &format!("let path = \"${{BASE}}{folder}main\";"),
        "",
    );
}

#[test]
fn hosts_of_registries_are_found() {
    let host = concat!("registry.", "npmjs.org");
    one(
        "package-lock.json",
        &format!("\"resolved\": \"https://{host}/x\""),
        &format!(
            "surroundings: package-lock.json:1: \"{host}\" is of the machine and not of the project"
        ),
    );
}

#[test]
fn one_file_may_look_beside_the_repository() {
    let line = concat!("if [ -d ../", "shared/corpus ]; then");
    one(".ci/run", line, "");
    one(
        "tests/it/a.rs",
        line,
        concat!(
            "surroundings: tests/it/a.rs:1: \"../",
            "shared\" is of the machine and not of the project"
        ),
    );
}

#[test]
fn a_test_that_sleeps_is_found_and_a_program_that_does_is_not() {
    let expected = "sleep: crates/a/tests/it/b.rs:1: wait for the event itself, \
                    or say in the exceptions why time is the subject";
    for line in [
        concat!("std::thread::sl", "eep(pause);"),
        concat!("tokio::time::sl", "eep(pause).await;"),
        concat!("sleep_", "until(then)"),
    ] {
        one("crates/a/tests/it/b.rs", line, expected);
        one("crates/a/src/b.rs", line, "");
    }
    one(
        "crates/a/tests/it/b.rs",
        "fn no_sleep() {} // sh -c 'sleep 30'",
        "",
    );
}
