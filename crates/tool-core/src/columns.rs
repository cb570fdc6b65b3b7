//! What the columns of tabular results hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColumnType {
    /// Text.
    String,
    /// Any number.
    Number,
    /// A number without a fraction.
    Integer,
    /// True or false.
    Boolean,
}

/// One column: its type, and whether a cell may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Column {
    /// What a cell holds.
    pub kind: ColumnType,
    /// Whether a cell may be null or absent.
    pub nullable: bool,
}

impl Column {
    /// A column whose cells always hold a value.
    #[must_use]
    pub fn new(kind: ColumnType) -> Self {
        Self {
            kind,
            nullable: false,
        }
    }

    /// Lets cells be null or absent.
    #[must_use]
    pub fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }
}

/// The columns that a tool declares of its rows, by name. Columns that are not listed are not
/// judged.
pub type Columns = BTreeMap<String, Column>;

/// A column that holds something else than its tool declares, or that no row has: counts and
/// types, never values. It says of which kind cells are, not whether they are right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnMismatch {
    /// The column.
    pub column: String,
    /// What it was declared to hold.
    pub expected: ColumnType,
    /// What the first wrong cell holds instead; `nothing` where no row has the column.
    pub got: &'static str,
    /// How many cells are wrong.
    pub wrong: usize,
    /// How many rows there are.
    pub rows: usize,
}

/// Judges rows by the declared columns. `None` where the output is not a list of objects, or is
/// an empty one: then there is nothing to judge.
///
/// A cell that is absent counts as null. A column that no row has is a mismatch also where its
/// cells may be null. An empty text is a text.
#[must_use]
pub fn judge_columns(columns: &Columns, output: &Value) -> Option<Vec<ColumnMismatch>> {
    let rows = output.as_array().filter(|rows| !rows.is_empty())?;
    if !rows.iter().all(Value::is_object) {
        return None;
    }
    let mismatches = columns.iter().filter_map(|(name, column)| {
        if !rows.iter().any(|row| row.get(name).is_some()) {
            return Some(ColumnMismatch {
                column: name.clone(),
                expected: column.kind,
                got: "nothing",
                wrong: rows.len(),
                rows: rows.len(),
            });
        }
        let wrong: Vec<_> = rows
            .iter()
            .map(|row| row.get(name).unwrap_or(&Value::Null))
            .filter(|cell| !column.fits(cell))
            .collect();
        Some(ColumnMismatch {
            column: name.clone(),
            expected: column.kind,
            got: kind_of(wrong.first()?),
            wrong: wrong.len(),
            rows: rows.len(),
        })
    });
    Some(mismatches.collect())
}

impl Column {
    fn fits(self, cell: &Value) -> bool {
        match (self.kind, cell) {
            (_, Value::Null) => self.nullable,
            (ColumnType::String, Value::String(_))
            | (ColumnType::Number, Value::Number(_))
            | (ColumnType::Boolean, Value::Bool(_)) => true,
            // 5.0 is an integer to JSON Schema too.
            (ColumnType::Integer, Value::Number(number)) => {
                number.is_i64()
                    || number.is_u64()
                    || number.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            _ => false,
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(text) if text.is_empty() => "empty string",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl std::fmt::Display for ColumnType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        })
    }
}
