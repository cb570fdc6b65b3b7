//! `tool lint --sarif`, read by a second reader: what section 3 of SARIF 2.1.0 demands.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::lint::entries;
use crate::workbench::Workbench;

#[derive(Deserialize)]
struct Log {
    version: String,
    #[serde(rename = "$schema")]
    schema: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    tool: Tool,
    invocations: Vec<Invocation>,
    results: Vec<Found>,
    #[serde(rename = "columnKind")]
    column_kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Invocation {
    execution_successful: bool,
    exit_code: i32,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notification {
    level: String,
    message: Message,
    locations: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Place {
    physical_location: Physical,
}

#[derive(Deserialize)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: String,
    version: String,
    information_uri: String,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    id: String,
    short_description: Message,
    help: Message,
    default_configuration: Configuration,
    #[serde(rename = "properties")]
    _properties: Value,
}

#[derive(Deserialize)]
struct Configuration {
    level: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Found {
    rule_id: String,
    rule_index: usize,
    level: String,
    message: Message,
    locations: Vec<Location>,
    properties: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Location {
    physical_location: Physical,
    logical_locations: Vec<Logical>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifact {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Region {
    start_line: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Logical {
    name: String,
    fully_qualified_name: String,
    kind: String,
}

fn log(bench: &Workbench, args: &[&str]) -> Log {
    let ended = bench.bare(args).args(["--sarif"]).end();
    serde_json::from_slice(&ended.stdout).unwrap()
}

#[test]
fn a_log_has_what_the_format_demands() {
    let bench = Workbench::new();
    let document = json!({"result": {"tools": entries()}});
    std::fs::create_dir(bench.path().join("my lists")).unwrap();
    let text = serde_json::to_string_pretty(&document).unwrap();
    bench.file("my lists/t\u{e9}.json", &text);
    let log = log(&bench, &["lint", "my lists/t\u{e9}.json"]);
    assert_eq!(log.version, "2.1.0");
    assert!(
        log.schema.ends_with("/sarif-schema-2.1.0.json"),
        "{}",
        log.schema
    );
    let [run] = log.runs.as_slice() else {
        panic!("there is one run");
    };
    let [invocation] = run.invocations.as_slice() else {
        panic!("there is one invocation");
    };
    assert!(invocation.execution_successful && invocation.exit_code == 1);
    assert!(invocation.tool_execution_notifications.is_empty());
    assert_eq!(run.column_kind, "unicodeCodePoints");
    let driver = &run.tool.driver;
    assert_eq!(
        (&*driver.name, &*driver.version),
        ("tool lint", env!("CARGO_PKG_VERSION"))
    );
    assert!(driver.information_uri.starts_with("https://"));
    let levels = ["error", "warning", "note"];
    for (index, rule) in driver.rules.iter().enumerate() {
        assert!(
            driver.rules[..index].iter().all(|it| it.id != rule.id),
            "{}",
            rule.id
        );
        assert!(
            levels.contains(&rule.default_configuration.level.as_str()),
            "{}",
            rule.id
        );
        assert!(!rule.short_description.text.is_empty() && !rule.help.text.is_empty());
    }
    assert!(!run.results.is_empty());
    for found in &run.results {
        assert_eq!(driver.rules[found.rule_index].id, found.rule_id);
        assert_eq!(
            driver.rules[found.rule_index].default_configuration.level,
            found.level
        );
        assert!(found.message.text.ends_with('.'), "{}", found.message.text);
        assert!(
            found.properties["profiles"]
                .as_array()
                .is_some_and(|it| !it.is_empty())
        );
        let [location] = found.locations.as_slice() else {
            panic!("there is one location");
        };
        assert_eq!(
            location.physical_location.artifact_location.uri,
            "my%20lists/t%C3%A9.json"
        );
        let [logical] = location.logical_locations.as_slice() else {
            panic!("there is one logical location");
        };
        assert_eq!(logical.kind, "value");
        assert!(["open", "look"].contains(&logical.name.as_str()));
        let place = &logical.fully_qualified_name;
        assert!(
            document.pointer(place).is_some(),
            "{place} is a place of the file"
        );
        // Written out like this, a value stands on the line whose text begins with its key.
        let line = location.physical_location.region.start_line;
        let line = text.lines().nth(line as usize - 1).unwrap().trim_start();
        let key = place.rsplit('/').next().unwrap();
        let is_it = line.starts_with(&format!("\"{key}\": ")) || key.parse::<usize>().is_ok();
        assert!(is_it, "{place} is not on the line {line}");
    }
}

#[test]
fn one_place_and_rule_is_one_result_whatever_the_profiles() {
    let bench = Workbench::new();
    bench.file("tools.json", &entries().to_string());
    let log = log(
        &bench,
        &[
            "lint",
            "tools.json",
            "--profile",
            "openai-chat",
            "--profile",
            "openai-responses",
        ],
    );
    let results = &log.runs[0].results;
    assert_eq!(results.len(), 1);
    let profiles = results[0].properties["profiles"].as_array().unwrap();
    let names: Vec<_> = profiles
        .iter()
        .map(|it| it["profile"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["openai-chat", "openai-responses"]);
    let rules = &log.runs[0].tool.driver.rules;
    assert!(rules.iter().all(|rule| !rule.id.starts_with("gemini/")));
}

#[test]
fn a_server_that_cannot_be_asked_is_a_notification_on_the_line_that_names_it() {
    let bench = Workbench::new();
    let config =
        "{\"mcpServers\": {\n\n  \"gone\": {\"command\": \"no-such-command-anywhere\"}\n}}";
    bench.file("mcp.json", config);
    let log = log(&bench, &["lint", "mcp.json"]);
    let [invocation] = log.runs[0].invocations.as_slice() else {
        panic!("there is one invocation");
    };
    assert!(!invocation.execution_successful);
    assert_eq!(invocation.exit_code, 2);
    let [told] = invocation.tool_execution_notifications.as_slice() else {
        panic!("there is one notification");
    };
    assert_eq!(told.level, "error");
    let wanted =
        "server gone could not be started: there is no command \"no-such-command-anywhere\".";
    assert_eq!(told.message.text, wanted);
    let place = &told.locations[0].physical_location;
    assert_eq!(place.artifact_location.uri, "mcp.json");
    assert_eq!(place.region.start_line, 3);
    assert!(log.runs[0].results.is_empty());
}
