//! The little of Markdown that the rules read: tables, headings, links and code spans.

/// A table with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<TableRow>,
}

/// A row of a table and the line, from 1, on which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRow {
    pub(crate) line: usize,
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// The first table whose header begins with these words.
    pub(crate) fn find(text: &str, header: &[&str]) -> Option<Self> {
        tables(text)
            .into_iter()
            .find(|table| starts_with(&table.header, header))
    }
}

impl TableRow {
    /// A cell, empty when the row is too short.
    pub(crate) fn cell(&self, at: usize) -> &str {
        self.cells.get(at).map_or("", String::as_str)
    }
}

fn starts_with(cells: &[String], words: &[&str]) -> bool {
    cells.len() >= words.len() && cells.iter().zip(words).all(|(cell, word)| cell == word)
}

/// Every table outside code fences.
pub(crate) fn tables(text: &str) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut open: Option<Table> = None;
    let mut before: Option<Vec<String>> = None;
    for (line, content) in prose(text) {
        let cells = cells(content);
        match (&mut open, cells) {
            (Some(table), Some(cells)) => table.rows.push(TableRow { line, cells }),
            (Some(_), None) => tables.extend(open.take()),
            (None, Some(cells)) if is_rule(&cells) => {
                open = before.take().map(|header| Table {
                    header,
                    rows: Vec::new(),
                });
            }
            (None, cells) => before = cells,
        }
    }
    tables.extend(open);
    tables
}

/// The lines outside code fences, with their numbers from 1.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        if fence {
            fenced = !fenced;
        }
        // A fence ends whatever stood before it, so it counts as an empty line.
        if fence {
            Some((at + 1, ""))
        } else if fenced {
            None
        } else {
            Some((at + 1, line))
        }
    })
}

/// The paragraphs outside code fences, each on one line, with the number of its first line. A row of
/// a table is a paragraph of its own.
pub(crate) fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in prose(text) {
        let line = line.trim();
        let alone = line.starts_with('|') || line.starts_with('#');
        match paragraphs.last_mut() {
            Some((_, text)) if open && !alone && !line.is_empty() => {
                text.push(' ');
                text.push_str(line);
            }
            _ if line.is_empty() => {}
            _ => paragraphs.push((number, line.to_owned())),
        }
        open = !alone && !line.is_empty();
    }
    paragraphs
}

/// The texts of the headings, without marks and backticks.
pub(crate) fn headings(text: &str) -> Vec<String> {
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| line.trim_start_matches('#').trim().replace('`', ""))
        .collect()
}

/// The anchor that a heading gets.
pub(crate) fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}

/// What stands between backticks on one line.
pub(crate) fn code_spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// The targets of the inline links and of the link definitions on one line.
pub(crate) fn links(line: &str) -> Vec<&str> {
    let bare: Vec<&str> = line.split('`').step_by(2).collect();
    let mut links = Vec::new();
    for piece in bare {
        let mut rest = piece;
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else {
                break;
            };
            links.extend(target.split_whitespace().next());
            rest = after;
        }
        if piece.starts_with('[')
            && let Some((_, target)) = piece.split_once("]: ")
        {
            links.extend(target.split_whitespace().next());
        }
    }
    links
}

fn cells(line: &str) -> Option<Vec<String>> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    // An escaped bar is text.
    let kept = row.replace("\\|", "\u{0}");
    Some(
        kept.split('|')
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect(),
    )
}

fn is_rule(cells: &[String]) -> bool {
    cells
        .iter()
        .all(|cell| cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':')))
}

#[cfg(test)]
mod tests;
