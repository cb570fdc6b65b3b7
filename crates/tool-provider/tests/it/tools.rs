//! Definitions for tests, and those of real servers.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
pub(crate) fn corpus(test: &str) -> Option<&'static [Definition]> {
    static TOOLS: OnceLock<Vec<Definition>> = OnceLock::new();
    let lists = lists(test)?;
    Some(TOOLS.get_or_init(|| {
        let named = lists.iter().flat_map(|(server, entries)| {
            entries
                .iter()
                .map(move |entry| (identity(server, entry), entry))
        });
        let defined = named.map(|(identity, entry)| {
            Definition::new(
                WireName::of(&identity),
                entry["description"].as_str().unwrap_or_default(),
                Schema::input(entry["inputSchema"].clone()).expect("an input schema"),
                None,
                Annotations::default(),
            )
        });
        defined.collect()
    }))
}

/// Who they are.
pub(crate) fn corpus_identities(test: &str) -> Option<Vec<Identity>> {
    let named = lists(test)?
        .iter()
        .flat_map(|(server, entries)| entries.iter().map(move |entry| identity(server, entry)));
    Some(named.collect())
}

fn identity(server: &str, entry: &Value) -> Identity {
    let source = Source::Server(Namespace::new(server).expect("a namespace"));
    let name = ToolName::new(entry["name"].as_str().expect("a name")).expect("a name");
    Identity::new(&source, name)
}

/// Does the work for each half on a thread of its own.
pub(crate) fn in_halves<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> [R; 2] {
    let (one, other) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| work(other));
        [work(one), other.join().expect("the other half")]
    })
}

/// What a server lists, by its name.
type Listed = (String, Vec<Value>);

/// The entries that real servers list, by server, as they are saved. They are read once.
pub(crate) fn lists(test: &str) -> Option<&'static [Listed]> {
    static LISTS: OnceLock<Vec<Listed>> = OnceLock::new();
    let Some(folder) = std::env::var_os("TOOL_CORPUS").map(PathBuf::from) else {
        println!("skipped {test}: TOOL_CORPUS is not set");
        return None;
    };
    Some(LISTS.get_or_init(|| read(&folder)))
}

fn read(folder: &Path) -> Vec<Listed> {
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
    lists
}
