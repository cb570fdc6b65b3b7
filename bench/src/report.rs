//! What was measured, for people and for programs.

use std::fmt;

use serde_json::{Value, json};

use crate::rounds::{Contender, Rounds, Spread};

/// Everything that one run measured.
#[derive(Default)]
pub struct Report {
    groups: Vec<Group>,
}

/// Contenders that were measured in the same rounds.
struct Group {
    title: &'static str,
    rounds: u32,
    rows: Vec<(String, Spread)>,
    ratios: Vec<Ratio>,
}

struct Ratio {
    name: String,
    spread: Spread,
    /// The most that it may be, where that is agreed.
    bar: Option<f64>,
}

/// A comparison to draw: one contender over another, and the most that it may be.
pub struct Compare<'n>(pub &'n str, pub &'n str, pub Option<f64>);

impl Report {
    /// Measures a group of contenders and compares them. A comparison with somebody who is not
    /// there is left out.
    pub fn measure(
        &mut self,
        title: &'static str,
        contenders: &[Contender<'_>],
        rounds: u32,
        compare: &[Compare<'_>],
    ) {
        let measured = Rounds::measure(contenders, rounds);
        let find = |name: &str| contenders.iter().position(|one| one.name() == name);
        self.groups.push(Group {
            title,
            rounds,
            rows: contenders
                .iter()
                .enumerate()
                .map(|(index, one)| (one.name().to_owned(), measured.nanos(index)))
                .collect(),
            ratios: compare
                .iter()
                .filter_map(|Compare(one, over, bar)| {
                    Some(Ratio {
                        name: format!("{one}/{over}"),
                        spread: measured.ratio(find(one)?, find(over)?),
                        bar: *bar,
                    })
                })
                .collect(),
        });
    }

    pub fn json(&self) -> Value {
        let groups = self.groups.iter().map(|group| {
            json!({
                "title": group.title,
                "rounds": group.rounds,
                "rows": group.rows.iter().map(|(name, nanos)| json!({
                    "name": name,
                    "ns_per_call": spread(nanos),
                })).collect::<Vec<_>>(),
                "ratios": group.ratios.iter().map(|ratio| json!({
                    "name": ratio.name,
                    "ratio": spread(&ratio.spread),
                    "bar": ratio.bar,
                    "met": ratio.met(),
                })).collect::<Vec<_>>(),
            })
        });
        json!({ "groups": groups.collect::<Vec<_>>() })
    }
}

impl Ratio {
    fn met(&self) -> Option<bool> {
        self.bar.map(|bar| self.spread.median <= bar)
    }
}

fn spread(spread: &Spread) -> Value {
    json!({ "p10": spread.low, "median": spread.median, "p90": spread.high })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in &self.groups {
            writeln!(f, "{}, {} rounds", group.title, group.rounds)?;
            for (name, nanos) in &group.rows {
                writeln!(
                    f,
                    "  {name:<28} {:>11.0} ns   (p10 {:.0}, p90 {:.0})",
                    nanos.median, nanos.low, nanos.high
                )?;
            }
            for ratio in &group.ratios {
                ratio.fmt(f)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {:<28} {:>10.2}x ", self.name, self.spread.median)?;
        match (self.bar, self.met()) {
            (Some(bar), Some(true)) => write!(f, "  (bar {bar}x) ok    ")?,
            (Some(bar), _) => write!(f, "  (bar {bar}x) MISSED")?,
            (None, _) => {}
        }
        writeln!(
            f,
            "   (p10 {:.2}, p90 {:.2})",
            self.spread.low, self.spread.high
        )
    }
}
