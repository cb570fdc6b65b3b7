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
    /// An amount of memory that is agreed, in bytes.
    Memory(f64),
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
    pub ours: Amount,
    pub peer: Amount,
    pub ratio: Spread,
}

/// What was measured of one contender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Nanos(f64),
    Bytes(f64),
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
            Peer::Memory(bytes) => format!("{} MB", bytes / 1e6),
        }
    }
}

impl Line {
    /// A comparison that was drawn.
    pub fn of(row: &Row, measured: Measured) -> Self {
        Self {
            measured: Some(measured),
            ..Self::skipped(row)
        }
    }

    /// One that could not be drawn.
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
        let (ours, peer) = (
            self.measured.map(|one| one.ours),
            self.measured.map(|one| one.peer),
        );
        let mut line = serde_json::json!({
            "name": self.name,
            "ours_ns": number(ours.and_then(Amount::nanos), 1),
            "peer": self.peer,
            "peer_ns": number(peer.and_then(Amount::nanos), 1),
            "ratio": number(self.measured.map(|one| one.ratio.median), 3),
            "bound": self.bound,
            "holds": self.holds(),
        });
        if let (Some(Amount::Bytes(ours)), Some(Amount::Bytes(peer))) = (ours, peer) {
            line["ours_bytes"] = number(Some(ours), 0).into();
            line["peer_bytes"] = number(Some(peer), 0).into();
        }
        line.to_string()
    }
}

impl Amount {
    fn nanos(self) -> Option<f64> {
        match self {
            Self::Nanos(nanos) => Some(nanos),
            Self::Bytes(_) => None,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nanos(nanos) => write!(f, "{nanos:>10.0} ns"),
            Self::Bytes(bytes) => write!(f, "{:>10.0} kB", bytes / 1e3),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, peer, .. } = self;
        let Some(Measured {
            ours,
            peer: theirs,
            ratio,
        }) = self.measured
        else {
            return write!(f, "  {name:<24} skipped: there is no {peer} in this build");
        };
        write!(
            f,
            "  {name:<24} {ours} {peer:>16} {theirs} {:>7.2}x",
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
