//! The layer table of ARCHITECTURE.md.

use std::fmt;

use crate::Error;
use crate::markdown::{Table, code_spans};

/// Where a crate stands. Dependencies go from a higher layer to a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further layer must break every match"
)]
pub enum Layer {
    /// The definition model and the ports.
    L0,
    /// Implementations of the ports that never see each other.
    L1,
    /// Adapters over more than one lower crate.
    L2,
    /// The facade.
    L3,
    /// Programs over the facade.
    App,
    /// Fakes and conformance suites, for the tests of every crate.
    Test,
    /// Stories, examples, benchmarks and automation: nothing of the product depends on them.
    Outer,
}

/// The parsed table.
#[derive(Clone, Debug)]
pub struct LayerTable {
    rows: Vec<Row>,
}

/// One row: a crate, its layer and what it may depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The line in ARCHITECTURE.md, from 1.
    pub line: usize,
    /// The layer.
    pub layer: Layer,
    /// The name of the package.
    pub name: String,
    /// The crates of the workspace that it may depend on.
    pub allows: Vec<String>,
}

impl LayerTable {
    /// The header of the table.
    pub const HEADER: [&str; 3] = ["layer", "crate", "may depend on"];

    /// Reads the table out of the text of ARCHITECTURE.md.
    ///
    /// # Errors
    /// When there is no such table, or a row has an unknown layer, not exactly one crate, a crate
    /// that another row has, or words where crates belong.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let Some(table) = Table::find(text, &Self::HEADER) else {
            return Err(Error::new(format!(
                "there is no table with the header \"{}\"",
                Self::HEADER.join(" | ")
            )));
        };
        let mut rows: Vec<Row> = Vec::new();
        for row in &table.rows {
            let at = |what: &str| Error::new(format!("line {}: {what}", row.line));
            let layer = Layer::parse(row.cell(0)).ok_or_else(|| at("there is no such layer"))?;
            let [name] = code_spans(row.cell(1))[..] else {
                return Err(at("a row names one crate, in backticks"));
            };
            let allows = code_spans(row.cell(2));
            if allows.is_empty() && row.cell(2) != "-" {
                return Err(at("name the crates in backticks, or write - for none"));
            }
            if rows.iter().any(|earlier| earlier.name == name) {
                return Err(at("another row has this crate already"));
            }
            rows.push(Row {
                line: row.line,
                layer,
                name: name.to_owned(),
                allows: allows.into_iter().map(str::to_owned).collect(),
            });
        }
        Ok(Self { rows })
    }

    /// The rows, as they stand in the page.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of a crate.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl Layer {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "L0" => Self::L0,
            "L1" => Self::L1,
            "L2" => Self::L2,
            "L3" => Self::L3,
            "app" => Self::App,
            "test" => Self::Test,
            "-" => Self::Outer,
            _ => return None,
        })
    }

    /// Whether a crate of this layer may ever depend on one of that layer.
    #[must_use]
    pub fn stands_above(self, other: Self) -> bool {
        match self {
            Self::L0 | Self::L1 | Self::L2 | Self::L3 => other < self,
            // A program is a consumer like any other: it has the facade and nothing else.
            Self::App => other == Self::L3,
            Self::Test => other == Self::L0,
            Self::Outer => other != Self::Outer,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::L3 => "L3",
            Self::App => "app",
            Self::Test => "test",
            Self::Outer => "-",
        })
    }
}
