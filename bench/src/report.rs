//! What was measured, for people and for programs.

use std::fmt;

use crate::rounds::{Contender, Rounds};
use crate::rows::{Amount, Line, Measured, Peer, Row};

/// Everything that one run measured.
#[derive(Default)]
pub struct Report {
    groups: Vec<Group>,
    only: Option<String>,
}

/// Contenders that were measured in the same rounds.
struct Group {
    title: String,
    lines: Vec<Line>,
}

impl Report {
    /// A report of what has that in its name, in the name of a group or of a row.
    pub fn of(only: Option<String>) -> Self {
        Self {
            groups: Vec::new(),
            only,
        }
    }

    /// Whether a group has anything that is asked for.
    pub fn asks_for(&self, group: &str, rows: &[Row]) -> bool {
        rows.iter().any(|row| self.asks_for_row(group, row))
    }

    /// The rows of a group that are asked for.
    pub fn asked<'a>(&self, group: &str, rows: &'a [Row]) -> impl Iterator<Item = &'a Row> {
        rows.iter().filter(|row| self.asks_for_row(group, row))
    }

    fn asks_for_row(&self, group: &str, row: &Row) -> bool {
        let only = self.only.as_deref();
        only.is_none_or(|only| group.contains(only) || row.name.contains(only))
    }

    /// Measures a group of contenders and compares them.
    pub fn measure(
        &mut self,
        group: &str,
        what: &str,
        contenders: &[Contender<'_>],
        rounds: u32,
        rows: &[Row],
    ) {
        let asked: Vec<&Row> = self.asked(group, rows).collect();
        if asked.is_empty() {
            return;
        }
        let is_needed = |one: &&Contender<'_>| {
            asked.iter().any(|row| {
                let peer = matches!(row.peer, Peer::Contender(peer) if peer == one.name());
                row.ours == one.name() || peer
            })
        };
        let contenders: Vec<&Contender<'_>> = contenders.iter().filter(is_needed).collect();
        let measured = Rounds::measure(&contenders, rounds);
        let find = |name: &str| contenders.iter().position(|one| one.name() == name);
        let line = |row: &&Row| Line {
            measured: find(row.ours).and_then(|ours| {
                let nanos = |index| Amount::Nanos(measured.nanos(index).median);
                Some(match row.peer {
                    Peer::Contender(peer) => {
                        let peer = find(peer)?;
                        Measured {
                            ours: nanos(ours),
                            peer: nanos(peer),
                            ratio: measured.ratio(ours, peer),
                        }
                    }
                    // What takes time is compared with time.
                    Peer::Memory(_) => return None,
                    Peer::Limit(limit) => Measured {
                        ours: nanos(ours),
                        peer: Amount::Nanos(limit),
                        ratio: measured.nanos(ours).over(limit),
                    },
                })
            }),
            ..Line::skipped(row)
        };
        self.groups.push(Group {
            title: format!("{group}: {what}, {rounds} rounds"),
            lines: asked.iter().map(line).collect(),
        });
    }

    /// Takes a group that was measured otherwise, as far as it is asked for.
    pub fn add(&mut self, title: String, lines: Vec<Line>) {
        self.groups.push(Group { title, lines });
    }

    /// Every comparison.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.groups.iter().flat_map(|group| &group.lines)
    }

    /// Whether no bound was missed.
    pub fn holds(&self) -> bool {
        self.lines().all(|line| line.holds() != Some(false))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in &self.groups {
            writeln!(f, "{}", group.title)?;
            for line in &group.lines {
                writeln!(f, "{line}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
