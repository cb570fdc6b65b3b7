//! Length and names of files.

use xtask::{SourceFile, file_grain};

use crate::says;

fn of_lines(path: &str, lines: usize) -> SourceFile {
    SourceFile::new(path, "//\n".repeat(lines))
}

#[test]
fn a_file_at_the_limit_passes_and_one_line_more_does_not() {
    let tree = [
        of_lines("crates/a/src/fits.rs", 400),
        of_lines("crates/a/src/long.rs", 401),
        of_lines("crates/a/tests/it/fits.rs", 500),
        of_lines("crates/a/tests/it/long.rs", 501),
        of_lines("data.json", 9000),
    ];
    says(
        &file_grain::check(&tree),
        "
long file: crates/a/src/long.rs: 401 lines, the most is 400; split it by noun
long file: crates/a/tests/it/long.rs: 501 lines, the most is 500; split it by noun",
    );
}

#[test]
fn a_long_file_that_passes_is_named() {
    let tree = [
        of_lines("src/a.rs", 250),
        of_lines("src/b.rs", 251),
        of_lines("tests/c.rs", 300),
    ];
    assert_eq!(
        file_grain::notes(&tree),
        ["src/b.rs has 251 lines; look for a second noun in it"]
    );
}

#[test]
fn a_file_is_named_after_a_noun() {
    let tree = [
        of_lines("src/utils.rs", 1),
        of_lines("src/common/mod.rs", 1),
        of_lines("src/type_name.rs", 1),
    ];
    says(
        &file_grain::check(&tree),
        "
vague name: src/common/mod.rs: name the file after the one thing that it holds
vague name: src/utils.rs: name the file after the one thing that it holds",
    );
}
