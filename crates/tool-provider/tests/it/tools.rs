//! Definitions for tests, and those of real servers.

use std::path::PathBuf;

use serde_json::{Value, json};
use tool_core::{Annotations, Definition, Identity, Namespace, Schema, Source, ToolName, WireName};

/// A tool of that schema.
pub(crate) fn tool(name: &str, schema: Value) -> Definition {
    let schema = Schema::input(schema).expect("an input schema");
    let name = WireName::parse(name).expect("a wire name");
    Definition::new(name, "Does it.", schema, None, Annotations::default())
}

/// An object with one property of that schema.
pub(crate) fn property(schema: impl Into<Value>) -> Value {
    let schema = schema.into();
    json!({"type": "object", "properties": {"x": schema}})
}

/// The tools of real servers, from `mcp-tools` of the folder that `TOOL_CORPUS` names; nothing where
/// it names none. A folder without definitions is a mistake of whoever set it.
pub(crate) fn corpus(test: &str) -> Option<Vec<Definition>> {
    let tools = corpus_tools(test)?;
    Some(
        tools
            .into_iter()
            .map(|(_, definition)| definition)
            .collect(),
    )
}

/// Who they are.
pub(crate) fn corpus_identities(test: &str) -> Option<Vec<Identity>> {
    let tools = corpus_tools(test)?;
    Some(tools.into_iter().map(|(identity, _)| identity).collect())
}

fn corpus_tools(test: &str) -> Option<Vec<(Identity, Definition)>> {
    let mut tools = Vec::new();
    for (server, entries) in lists(test)? {
        let source = Source::Server(Namespace::new(server).expect("a namespace"));
        for tool in entries {
            let name = ToolName::new(tool["name"].as_str().expect("a name")).expect("a name");
            let schema = Schema::input(tool["inputSchema"].clone()).expect("an input schema");
            let identity = Identity::new(&source, name);
            let definition = Definition::new(
                WireName::of(&identity),
                tool["description"].as_str().unwrap_or_default(),
                schema,
                None,
                Annotations::default(),
            );
            tools.push((identity, definition));
        }
    }
    Some(tools)
}

/// The entries that real servers list, by server, as they are saved.
pub(crate) fn lists(test: &str) -> Option<Vec<(String, Vec<Value>)>> {
    let Some(folder) = std::env::var_os("TOOL_CORPUS").map(PathBuf::from) else {
        println!("skipped {test}: TOOL_CORPUS is not set");
        return None;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder.join("mcp-tools"))
        .expect("TOOL_CORPUS names a folder that holds mcp-tools")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    files.sort();
    let lists: Vec<_> = files
        .iter()
        .map(|file| {
            let bytes = std::fs::read(file).expect("a file");
            let list: Value = serde_json::from_slice(&bytes).expect("JSON");
            let server = file
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (
                server,
                list["tools"].as_array().expect("a list of tools").clone(),
            )
        })
        .collect();
    assert!(!lists.is_empty(), "mcp-tools of TOOL_CORPUS holds tools");
    Some(lists)
}
