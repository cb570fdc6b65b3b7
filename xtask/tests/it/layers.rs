//! The shape of the layer table.

use xtask::LayerTable;

const HEADER: &str = "| layer | crate | may depend on |\n|---|---|---|\n";

#[track_caller]
fn refused(rows: &str) -> String {
    LayerTable::parse(&format!("{HEADER}{rows}"))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_page_without_the_table_is_refused() {
    assert_eq!(
        LayerTable::parse("# Page\n").unwrap_err().to_string(),
        "there is no table with the header \"layer | crate | may depend on\""
    );
}

#[test]
fn a_row_that_says_nothing_clear_is_refused_with_its_line() {
    assert_eq!(
        refused("| L9 | `a` | - |\n"),
        "line 3: there is no such layer"
    );
    assert_eq!(
        refused("| L0 | a | - |\n"),
        "line 3: a row names one crate, in backticks"
    );
    assert_eq!(
        refused("| L3 | `a` | all above |\n"),
        "line 3: name the crates in backticks, or write - for none"
    );
    assert_eq!(
        refused("| L0 | `a` | - |\n| L1 | `a` | - |\n"),
        "line 4: another row has this crate already"
    );
}
