//! A tool as its server advertises it.

use serde::Deserialize;
use serde_json::{Map, Value};
use tool_core::Annotations;

use super::declared::Dropped;
use super::listing::size;
use crate::wire::DECLARATIONS;

/// A tool as its server advertises it, as far as it is understood.
#[derive(Debug)]
pub(crate) struct Advertised {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
    pub(crate) annotations: Annotations,
    /// What it declares beside them, unread.
    pub(crate) declarations: Option<Value>,
    /// What else it says for clients, as far as that is bounded.
    pub(crate) icons: Vec<Value>,
    pub(crate) meta: Map<String, Value>,
    /// What was too long of it.
    pub(crate) too_long: Vec<Dropped>,
}

/// The most bytes that a tool may say in `_meta`, and in `icons`, as JSON: the longest of real
/// servers take a hundredth of it.
const MOST_BYTES: usize = 64 * 1024;

/// The hints of a server, each of which may be missing or of the wrong type.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Hints {
    title: Value,
    read_only_hint: Value,
    destructive_hint: Value,
    idempotent_hint: Value,
    open_world_hint: Value,
}

impl Advertised {
    /// Reads one entry of a list. What is wrong with it is this tool's alone.
    ///
    /// # Errors
    /// The name, as far as there is one, and a clause with what is wrong.
    pub(crate) fn read(entry: Value) -> Result<Self, (String, &'static str)> {
        let Value::Object(mut entry) = entry else {
            return Err((String::new(), "the entry is no object"));
        };
        let Some(Value::String(name)) = entry.remove("name") else {
            return Err((String::new(), "the entry has no name"));
        };
        let Some(input) = entry.remove("inputSchema") else {
            return Err((name, "it has no input schema"));
        };
        if input.is_null() {
            return Err((name, "its input schema is nested too deeply to be read"));
        }
        let annotations = annotations(&entry);
        let mut too_long = Vec::new();
        let mut said = |field: &'static str| {
            let said = entry.remove(field)?;
            let fits = size(&said) <= MOST_BYTES;
            if !fits {
                let problem = "takes more than 65,536 bytes";
                too_long.push(Dropped { field, problem });
            }
            fits.then_some(said)
        };
        let mut meta = match said("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        let icons = match said("icons") {
            Some(Value::Array(icons)) => icons,
            _ => Vec::new(),
        };
        let declarations = meta.remove(DECLARATIONS);
        Ok(Self {
            description: match entry.remove("description") {
                Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
                _ => None,
            },
            output: entry
                .remove("outputSchema")
                .filter(|schema| !schema.is_null()),
            name,
            input,
            annotations,
            declarations,
            icons,
            meta,
            too_long,
        })
    }
}

/// A hint that is missing or makes no sense counts as not given, which is the careful reading.
fn annotations(entry: &Map<String, Value>) -> Annotations {
    let hints = entry
        .get("annotations")
        .and_then(|hints| Hints::deserialize(hints).ok())
        .unwrap_or_default();
    let title = [entry.get("title"), Some(&hints.title)]
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|title| !title.trim().is_empty());

    let mut annotations = Annotations::default();
    annotations.title = title.map(str::to_owned);
    for (field, hint) in [
        (&mut annotations.read_only, &hints.read_only_hint),
        (&mut annotations.destructive, &hints.destructive_hint),
        (&mut annotations.idempotent, &hints.idempotent_hint),
        (&mut annotations.open_world, &hints.open_world_hint),
    ] {
        *field = hint.as_bool().unwrap_or(*field);
    }
    annotations
}
