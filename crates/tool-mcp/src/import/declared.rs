//! What a server declares of a tool.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};
use tool_core::{
    ArtifactKind, Column, Columns, Owner, RepeatedWhen, ResultClass, Tool, ToolName, WireName,
};

/// The most characters of one text.
const LONGEST_TEXT: usize = 256;
/// The most names in one list.
const MOST_NAMES: usize = 100;
/// The most columns; a server must not make every result slow.
const MOST_COLUMNS: usize = 1_000;

/// What a server declares of one tool: facts that are checked here, and nothing of how a call runs.
///
/// Fields that are not known are left alone, as other gateways may have more. So are those that
/// would say how a call runs here, such as a credential or an approval: no server has a say in it.
///
/// Each can only tighten what holds without it:
///
/// | field | what it does |
/// |---|---|
/// | `resultCeiling` | refuses results that would be bounded |
/// | `resultClass` | has a gate want more of it |
/// | `resultKind` | names what nobody could take without a name; who takes it says by itself of which kind, and policy judges that call |
/// | `resultColumns` | refuses or reports rows, where the operator judges any |
/// | `owner` | names who answers, and is asked by nothing |
/// | `argumentsFrom`, `composedOf` | have more found and reported |
/// | `gates` | makes others wait; `false` would let them go ahead and is left out |
/// | `repeatedWhen` | counts more calls as the same again |
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Declared {
    ceiling: Option<NonZeroUsize>,
    narrow_by: Option<Vec<String>>,
    class: Option<ResultClass>,
    kind: Option<ArtifactKind>,
    columns: Option<Columns>,
    owner: Option<Owner>,
    /// The server's own names, as are those below.
    arguments_from: Option<Vec<ToolName>>,
    composed_of: Option<Vec<ToolName>>,
    gates: Option<bool>,
    repeated: Option<RepeatedWhen>,
}

/// A field that is known and makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) field: &'static str,
    /// A clause that follows on the field.
    pub(crate) problem: &'static str,
}

impl Declared {
    /// Reads the declarations of a tool, each field on its own: one that makes no sense is left
    /// out and told, and the others count. What is no object declares nothing.
    pub(crate) fn read(tool: &str, bag: Option<&Value>) -> (Self, Vec<Dropped>) {
        let mut dropped = Vec::new();
        let Some(bag) = bag.and_then(Value::as_object) else {
            return (Self::default(), dropped);
        };
        let mut reading = Reading {
            bag,
            dropped: &mut dropped,
        };
        let (ceiling, narrow_by) = reading.field("resultCeiling", ceiling).unzip();
        let declared = Self {
            ceiling,
            narrow_by: narrow_by.flatten(),
            class: reading.field("resultClass", class),
            kind: reading.field("resultKind", kind),
            columns: reading.field("resultColumns", columns),
            owner: reading.field("owner", owner),
            arguments_from: reading.field("argumentsFrom", |told| tools(tool, told)),
            composed_of: reading.field("composedOf", |told| tools(tool, told)),
            gates: reading.field("gates", gates),
            repeated: reading.field("repeatedWhen", repeated),
        };
        (declared, dropped)
    }

    /// The tool with what is declared of it. Names of other tools of the server become the names
    /// that these have here.
    pub(crate) fn on(self, mut tool: Tool, named: impl Fn(&ToolName) -> WireName) -> Tool {
        let here = |names: Vec<ToolName>| {
            let names = names.iter().map(|name| named(name).to_string());
            names.collect::<Vec<_>>()
        };
        if let Some(most) = self.ceiling {
            tool = tool.ceiling(most);
        }
        if let Some(names) = self.narrow_by {
            tool = tool.narrow_by(names);
        }
        if let Some(class) = self.class {
            tool = tool.result_class(class);
        }
        if let Some(kind) = self.kind {
            tool = tool.result_kind(kind);
        }
        if let Some(columns) = self.columns {
            tool = tool.result_columns(columns);
        }
        if let Some(owner) = self.owner {
            tool = tool.owner(owner);
        }
        if let Some(names) = self.arguments_from {
            tool = tool.arguments_from(here(names));
        }
        if let Some(names) = self.composed_of {
            tool = tool.composed_of(here(names));
        }
        if let Some(gates) = self.gates {
            tool = tool.gates(gates);
        }
        if let Some(repeated) = self.repeated {
            tool = tool.repeated_when(repeated);
        }
        tool
    }
}

/// The declarations of one tool while they are read.
struct Reading<'a> {
    bag: &'a Map<String, Value>,
    dropped: &'a mut Vec<Dropped>,
}

impl Reading<'_> {
    fn field<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> Result<T, &'static str>,
    ) -> Option<T> {
        match read(self.bag.get(field)?) {
            Ok(read) => Some(read),
            Err(problem) => {
                self.dropped.push(Dropped { field, problem });
                None
            }
        }
    }
}

type Ceiling = (NonZeroUsize, Option<Vec<String>>);

fn ceiling(told: &Value) -> Result<Ceiling, &'static str> {
    let most = told.get("maxChars").and_then(Value::as_u64);
    let most = most.and_then(|most| NonZeroUsize::new(usize::try_from(most).ok()?));
    let most = most.ok_or("has no whole number of characters from 1 on")?;
    let names = told.get("narrowBy").map(names).transpose()?;
    Ok((most, names))
}

fn class(told: &Value) -> Result<ResultClass, &'static str> {
    serde_json::from_value(told.clone()).map_err(|_| "is no class that is known")
}

fn kind(told: &Value) -> Result<ArtifactKind, &'static str> {
    let word = text(told).ok_or("is no text with something in it")?;
    ArtifactKind::new(word).ok_or("is blank")
}

fn columns(told: &Value) -> Result<Columns, &'static str> {
    let told = told.as_object().ok_or("is no object")?;
    if told.is_empty() || told.len() > MOST_COLUMNS {
        return Err("names no column, or too many");
    }
    let columns = told.iter().map(|(name, told)| {
        let known = !name.trim().is_empty();
        let column = column(told).filter(|_| known)?;
        Some((name.clone(), column))
    });
    let columns: Option<Columns> = columns.collect();
    columns.ok_or("has a column that holds nothing known")
}

/// A column: its type alone, or that and whether a cell may be null.
fn column(told: &Value) -> Option<Column> {
    let (kind, nullable) = match told {
        Value::Object(told) => (told.get("type")?, told.get("nullable")),
        bare => (bare, None),
    };
    let column = Column::new(serde_json::from_value(kind.clone()).ok()?);
    match nullable {
        None | Some(Value::Bool(false)) => Some(column),
        Some(Value::Bool(true)) => Some(column.nullable()),
        Some(_) => None,
    }
}

fn owner(told: &Value) -> Result<Owner, &'static str> {
    let half = |key| told.get(key).and_then(text);
    let halves = half("kind").zip(half("id"));
    let (kind, id) = halves.ok_or("has a half that is missing or blank")?;
    Ok(Owner::new(kind, id))
}

/// Names of other tools of the same server.
fn tools(tool: &str, told: &Value) -> Result<Vec<ToolName>, &'static str> {
    let names = names(told)?;
    if names.iter().any(|name| name == tool) {
        return Err("names the tool itself");
    }
    let names: Result<_, _> = names.iter().map(ToolName::new).collect();
    names.map_err(|_| "names something that is no tool")
}

fn repeated(told: &Value) -> Result<RepeatedWhen, &'static str> {
    match told.as_str() {
        Some("arguments") => Ok(RepeatedWhen::Arguments),
        _ => Err("is not \"arguments\""),
    }
}

/// That others wait for it. That nobody has to is for the host to say, who knows what waits.
fn gates(told: &Value) -> Result<bool, &'static str> {
    match told {
        Value::Bool(true) => Ok(true),
        Value::Bool(false) => Err("would let others go ahead, which no server can say,"),
        _ => Err("is neither true nor false"),
    }
}

fn names(told: &Value) -> Result<Vec<String>, &'static str> {
    let names = told.as_array().ok_or("is no list of names")?;
    if names.is_empty() || names.len() > MOST_NAMES {
        return Err("has no name, or too many");
    }
    let names: Option<Vec<&str>> = names.iter().map(text).collect();
    let names = names.ok_or("has a name that is blank, too long or no text")?;
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// A text with something in it that is not too long to be read.
fn text(told: &Value) -> Option<&str> {
    let text = told.as_str()?;
    let fits = !text.trim().is_empty() && text.chars().count() <= LONGEST_TEXT;
    fits.then_some(text)
}
