//! Tools that somebody saved: a `tools/list` result, as clients and servers write it.

use std::path::Path;

use serde_json::Value;
use tool_runtime::core::{Annotations, Definition, Identity, Schema, Source, ToolName, WireName};

use crate::error::CliError;
use crate::input;

/// The entries of a list, each as it was written.
#[derive(Debug)]
pub(crate) struct ToolListFile {
    pub(crate) entries: Vec<Value>,
    /// The place of the list in its document, as a JSON pointer.
    pub(crate) pointer: &'static str,
    /// The document as it was written.
    pub(crate) text: String,
}

/// What a file holds that tools are looked for in.
#[derive(Debug)]
pub(crate) enum Document {
    Tools(ToolListFile),
    /// Servers in the `mcpServers` format.
    Servers(String),
}

impl Document {
    /// Reads a file, or standard input where it is named `-`.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let text = match path.as_os_str() == "-" {
            true => input::standard()?,
            false => input::file(path)?,
        };
        let wrong = |problem| CliError::NoToolList {
            path: path.to_owned(),
            problem,
        };
        let document: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|source| {
                CliError::NoJson {
                    path: path.to_owned(),
                    source,
                }
            })?;
        if document.get("mcpServers").is_some() {
            return Ok(Self::Servers(text));
        }
        if document.get("jsonrpc").is_some() && document.get("error").is_some() {
            return Err(wrong("is an answer that reports an error"));
        }
        for pointer in ["/tools", "/result/tools", ""] {
            if let Some(Value::Array(entries)) = document.pointer(pointer) {
                let entries = entries.clone();
                return Ok(Self::Tools(ToolListFile {
                    entries,
                    pointer,
                    text,
                }));
            }
        }
        Err(wrong("holds no list of tools"))
    }
}

impl ToolListFile {
    /// The definitions that a host makes of the entries, and what is wrong with the others.
    pub(crate) fn definitions(&self) -> (Vec<Definition>, Vec<String>) {
        let (mut definitions, mut hopeless) = (Vec::new(), Vec::new());
        for (index, entry) in self.entries.iter().enumerate() {
            match definition(entry) {
                Ok(definition) => definitions.push(definition),
                Err(problem) => {
                    let name = entry.get("name").and_then(Value::as_str);
                    let name = name.map_or_else(
                        || format!("entry {index}"),
                        |name| format!("tool \"{}\"", name.escape_debug()),
                    );
                    hopeless.push(format!("{name} cannot be used: {problem}"));
                }
            }
        }
        (definitions, hopeless)
    }
}

fn definition(entry: &Value) -> Result<Definition, String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let name = ToolName::new(text("name").ok_or("it has no name")?);
    let name = name.map_err(|problem| problem.to_string())?;
    let wire = match WireName::parse(name.as_str()) {
        Some(wire) => wire,
        None => WireName::of(&Identity::new(&Source::Host, name)),
    };
    let input = entry.get("inputSchema").ok_or("it has no input schema")?;
    let input = Schema::input(input.clone()).map_err(|problem| problem.to_string())?;
    let output = entry.get("outputSchema").filter(|it| !it.is_null());
    let output = output.map(|schema| Schema::new(schema.clone()));
    let output = output.transpose().map_err(|problem| problem.to_string())?;
    let hints = entry.get("annotations").cloned().unwrap_or_default();
    let mut annotations: Annotations = serde_json::from_value(hints).unwrap_or_default();
    if let Some(title) = text("title") {
        annotations.title = Some(title.to_owned());
    }
    let description = text("description").unwrap_or_default();
    Ok(Definition::new(
        wire,
        description,
        input,
        output,
        annotations,
    ))
}
