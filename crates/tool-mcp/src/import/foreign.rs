//! What another gateway of this kind declares of a tool.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};
use tool_core::{Column, Columns, RepeatedWhen, Tool};

use crate::wire::DECLARATIONS;

/// Columns that are judged; a server must not make every result slow.
const MOST_COLUMNS: usize = 1_000;
/// Names of arguments that make a result smaller, and characters of each: a model reads them.
const MOST_NAMES: usize = 16;
const LONGEST_NAME: usize = 100;

/// What another gateway declares of a tool, as far as it makes the tool stricter. Who owns it, of
/// what class its results are and what they are made of would be believed; that is left to whoever
/// runs this one.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Foreign {
    ceiling: Option<NonZeroUsize>,
    narrow_by: Option<Vec<String>>,
    columns: Option<Columns>,
    gates: bool,
    repeated: bool,
}

impl Foreign {
    /// Reads the declarations of a listed tool, each on its own: one that makes no sense is left
    /// out, and the others count. The second part says which and why.
    pub(crate) fn read(entry: &Value) -> (Self, Vec<String>) {
        let (mut foreign, mut problems) = (Self::default(), Vec::new());
        let meta = entry.get("_meta").and_then(|meta| meta.get(DECLARATIONS));
        let Some(declared) = meta else {
            return (foreign, problems);
        };
        let Some(declared) = declared.as_object() else {
            problems.push("declarations are no object".to_owned());
            return (foreign, problems);
        };
        let mut wrong = |key: &str, problem: &str| {
            problems.push(format!("declaration {key} {problem} and is left out"));
        };
        if let Some(told) = declared.get("resultCeiling") {
            match ceiling(told) {
                Ok((most, names)) => {
                    foreign.ceiling = Some(most);
                    foreign.narrow_by = names;
                }
                Err(problem) => wrong("resultCeiling", problem),
            }
        }
        if let Some(told) = declared.get("resultColumns") {
            match told.as_object().and_then(columns) {
                Some(columns) => foreign.columns = Some(columns),
                None => wrong("resultColumns", "names columns in no way that is known"),
            }
        }
        match declared.get("gates") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => foreign.gates = true,
            Some(_) => wrong("gates", "is neither true nor false"),
        }
        match declared.get("repeatedWhen") {
            None => {}
            Some(when) if when == "arguments" => foreign.repeated = true,
            Some(_) => wrong("repeatedWhen", "is not \"arguments\""),
        }
        (foreign, problems)
    }

    /// The tool, made stricter.
    pub(crate) fn on(self, mut tool: Tool) -> Tool {
        if let Some(ceiling) = self.ceiling {
            tool = tool.ceiling(ceiling);
        }
        if let Some(names) = self.narrow_by {
            tool = tool.narrow_by(names);
        }
        if let Some(columns) = self.columns {
            tool = tool.result_columns(columns);
        }
        if self.gates {
            tool = tool.gates(true);
        }
        if self.repeated {
            tool = tool.repeated_when(RepeatedWhen::Arguments);
        }
        tool
    }
}

fn ceiling(told: &Value) -> Result<(NonZeroUsize, Option<Vec<String>>), &'static str> {
    let most = told.get("maxChars").and_then(Value::as_u64);
    let most = most.and_then(|most| NonZeroUsize::new(usize::try_from(most).ok()?));
    let most = most.ok_or("has no number of characters from 1 on")?;
    let Some(names) = told.get("narrowBy") else {
        return Ok((most, None));
    };
    let name = |name: &Value| {
        let name = name.as_str()?;
        let fits = !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME;
        fits.then(|| name.to_owned())
    };
    let names = names.as_array().filter(|names| names.len() <= MOST_NAMES);
    let names: Option<Vec<_>> = names.and_then(|names| names.iter().map(name).collect());
    let names = names.filter(|names| !names.is_empty());
    names
        .map(|names| (most, Some(names)))
        .ok_or("narrows by something that is no list of names")
}

fn columns(told: &Map<String, Value>) -> Option<Columns> {
    if told.is_empty() || told.len() > MOST_COLUMNS {
        return None;
    }
    let column = |(name, told): (&String, &Value)| {
        let kind = serde_json::from_value(told.get("type")?.clone()).ok()?;
        let column = Column::new(kind);
        Some(match told.get("nullable") {
            None | Some(Value::Bool(false)) => (name.clone(), column),
            Some(Value::Bool(true)) => (name.clone(), column.nullable()),
            Some(_) => return None,
        })
    };
    told.iter().map(column).collect()
}
