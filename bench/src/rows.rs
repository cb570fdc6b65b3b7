//! What is compared with what, and how much it may be.

use std::fmt;

use crate::rounds::Spread;

/// One comparison to draw: a contender, its peer, and the most that their ratio may be.
pub struct Row {
    pub name: &'static str,
    pub ours: &'static str,
    pub peer: Peer,
    pub bound: Option<f64>,
}

/// What a contender is compared with.
#[derive(Clone, Copy)]
pub enum Peer {
    /// Another contender of the same group.
    Contender(&'static str),
    /// A time that is agreed, in nanoseconds.
    Limit(f64),
}

/// A comparison that was drawn, or why it was not.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub peer: String,
    pub bound: Option<f64>,
    pub measured: Option<Measured>,
}

/// The numbers of one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub ours_ns: f64,
    pub peer_ns: f64,
    pub ratio: Spread,
}

/// A comparison whose bound is one.
pub const fn row(
    name: &'static str,
    ours: &'static str,
    peer: &'static str,
    bound: Option<f64>,
) -> Row {
    Row {
        name,
        ours,
        peer: Peer::Contender(peer),
        bound,
    }
}

impl Row {
    pub fn peer_name(&self) -> String {
        match self.peer {
            Peer::Contender(name) => name.to_owned(),
            Peer::Limit(nanos) => format!("{} us", nanos / 1e3),
        }
    }
}

impl Line {
    /// A comparison that could not be drawn.
    pub fn skipped(row: &Row) -> Self {
        Self {
            name: row.name.to_owned(),
            peer: row.peer_name(),
            bound: row.bound,
            measured: None,
        }
    }

    /// Whether the bound holds; `None` where there is none, or nothing was measured.
    pub fn holds(&self) -> Option<bool> {
        Some(self.measured?.ratio.median <= self.bound?)
    }

    /// One object, on one line.
    pub fn json(&self) -> String {
        let number = |value: Option<f64>, digits: i32| {
            let scale = 10_f64.powi(digits);
            value.map(|value| (value * scale).round() / scale)
        };
        serde_json::json!({
            "name": self.name,
            "ours_ns": number(self.measured.map(|one| one.ours_ns), 1),
            "peer": self.peer,
            "peer_ns": number(self.measured.map(|one| one.peer_ns), 1),
            "ratio": number(self.measured.map(|one| one.ratio.median), 3),
            "bound": self.bound,
            "holds": self.holds(),
        })
        .to_string()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, peer, .. } = self;
        let Some(Measured {
            ours_ns,
            peer_ns,
            ratio,
        }) = self.measured
        else {
            return write!(f, "  {name:<24} skipped: there is no {peer} in this build");
        };
        write!(
            f,
            "  {name:<24} {ours_ns:>10.0} ns {peer:>16} {peer_ns:>10.0} ns {:>7.2}x",
            ratio.median
        )?;
        match (self.bound, self.holds()) {
            (Some(bound), Some(true)) => write!(f, "  at most {bound:>4}x  holds")?,
            (Some(bound), _) => write!(f, "  at most {bound:>4}x  MISSED")?,
            (None, _) => write!(f, "  {:>20}", "")?,
        }
        write!(f, "  (p10 {:.2}, p90 {:.2})", ratio.low, ratio.high)
    }
}

#[cfg(test)]
mod tests;
