use super::*;

const PAGE: &str = "\
# A page of `names`

| name | of |
|---|---|
| `a` | x \\| y |

```text
| no | table |
|---|---|
| 1 | 2 |
```
See [here](b.md#part) and [there](<c.md> \"title\"), not `[this](d.md)`.

[later]: e.md
";

#[test]
fn a_table_keeps_its_lines_and_escaped_bars() {
    let tables = tables(PAGE);
    assert_eq!(tables.len(), 1);
    let row = &tables[0].rows[0];
    assert_eq!(row.line, 5);
    assert_eq!(row.cells, ["`a`", "x | y"]);
}

#[test]
fn a_table_is_found_by_how_its_header_begins() {
    assert!(Table::find(PAGE, &["name"]).is_some());
    assert!(Table::find(PAGE, &["name", "of", "more"]).is_none());
    assert!(Table::find(PAGE, &["no"]).is_none());
}

#[test]
fn links_in_code_are_text() {
    let links: Vec<&str> = prose(PAGE).flat_map(|(_, line)| links(line)).collect();
    assert_eq!(links, ["b.md#part", "<c.md>", "e.md"]);
}

#[test]
fn a_heading_has_the_anchor_that_readers_link_to() {
    assert_eq!(headings(PAGE), ["A page of names"]);
    assert_eq!(anchor("Bird's eye: one call"), "birds-eye-one-call");
}

#[test]
fn a_paragraph_goes_on_until_an_empty_line_a_row_or_a_heading() {
    let page = "# One\ntwo\nthree\n| 4 | x |\n| 5 | y |\n\nsix\n```text\nno\n```\nseven\n";
    let expected = [
        (1, "# One"),
        (2, "two three"),
        (4, "| 4 | x |"),
        (5, "| 5 | y |"),
        (7, "six"),
        (11, "seven"),
    ];
    let expected = expected.map(|(number, text)| (number, text.to_owned()));
    assert_eq!(paragraphs(page), expected);
}
