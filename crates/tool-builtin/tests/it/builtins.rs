use std::sync::Arc;

use tool_builtin::{Options, all};
use tool_core::{Bounding, OutputStore};

use crate::fixture::Room;
use crate::read_output::Kept;

#[test]
fn every_tool_can_be_registered_and_says_that_it_asks() {
    let room = Room::new();
    let store: Arc<dyn OutputStore> = Arc::new(Kept::new("text"));
    let tools = all(
        &room.workspace,
        room.permission(),
        Some(store),
        Options::new(),
    );
    let names: Vec<_> = tools.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "edit",
            "glob",
            "grep",
            "read",
            "read_output",
            "shell",
            "write"
        ]
    );
    for (name, tool) in &tools {
        assert!(tool.problems().is_empty(), "{name}: {:?}", tool.problems());
        assert!(tool.declarations().asserts, "{name}");
        assert!(tool.declarations().annotations.title.is_some(), "{name}");
    }
}

#[test]
fn without_a_store_there_is_nothing_to_read_back() {
    let room = Room::new();
    let tools = all(&room.workspace, room.permission(), None, Options::new());
    assert!(tools.iter().all(|(name, _)| *name != "read_output"));
}

#[test]
fn only_what_changes_nothing_says_so() {
    let room = Room::new();
    let store: Arc<dyn OutputStore> = Arc::new(Kept::new("text"));
    let tools = all(
        &room.workspace,
        room.permission(),
        Some(store),
        Options::new(),
    );
    for (name, tool) in &tools {
        let hints = &tool.declarations().annotations;
        let reads = ["glob", "grep", "read", "read_output"].contains(name);
        assert_eq!(hints.read_only, reads, "{name}");
        assert_eq!(hints.destructive, !reads, "{name}");
        assert_eq!(hints.open_world, *name == "shell", "{name}");
        let inline = tool.declarations().bounding == Bounding::Inline;
        assert_eq!(inline, *name == "read_output", "{name}");
    }
}

#[test]
fn inputs_are_closed_objects_whose_properties_are_all_described() {
    let room = Room::new();
    let store: Arc<dyn OutputStore> = Arc::new(Kept::new("text"));
    for (name, tool) in all(
        &room.workspace,
        room.permission(),
        Some(store),
        Options::new(),
    ) {
        let schema = tool.input().as_value();
        assert_eq!(schema["additionalProperties"], false, "{name}");
        for (property, schema) in schema["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}.{property}");
        }
        assert_eq!(
            tool.advertised_output().unwrap().as_value()["type"],
            "object",
            "{name}"
        );
    }
}
