//! The definitions of real servers.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tool_core::{Annotations, Definition, Identity, Namespace, Schema, Source, ToolName, WireName};
use tool_provider::Profile;

/// All of them, and the folder that they were read from.
pub struct Corpus {
    pub folder: PathBuf,
    pub definitions: Vec<Definition>,
}

impl Corpus {
    /// The definitions of `mcp-tools` in the folder that `TOOL_CORPUS` names, if it names one.
    pub fn of_environment() -> Result<Option<Self>, Box<dyn Error>> {
        let Some(folder) = std::env::var_os("TOOL_CORPUS") else {
            return Ok(None);
        };
        let folder = PathBuf::from(folder).join("mcp-tools");
        let entries = fs::read_dir(&folder)
            .map_err(|error| format!("{} could not be read: {error}", folder.display()))?;
        let mut files = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()?;
        files.retain(|path| path.extension().is_some_and(|it| it == "json"));
        files.sort();
        let mut definitions = Vec::new();
        for file in files {
            let server = file.file_stem().unwrap_or_default().to_string_lossy();
            let source = Source::Server(Namespace::new(&*server)?);
            let list: Value = serde_json::from_slice(&fs::read(&file)?)?;
            for tool in list["tools"].as_array().into_iter().flatten() {
                let name = ToolName::new(tool["name"].as_str().unwrap_or_default())?;
                definitions.push(Definition::new(
                    WireName::of(&Identity::new(&source, name)),
                    tool["description"].as_str().unwrap_or_default(),
                    Schema::input(tool["inputSchema"].clone())?,
                    None,
                    Annotations::default(),
                ));
            }
        }
        Ok((!definitions.is_empty()).then_some(Self {
            folder,
            definitions,
        }))
    }

    /// Every definition as a request carries it: how many bytes that are.
    pub fn projected(&self, profile: Profile) -> usize {
        let sent = self.definitions.iter().map(|tool| profile.project(tool));
        sent.map(|sent| sent.map_or(0, |sent| sent.as_json().len()))
            .sum()
    }
}
