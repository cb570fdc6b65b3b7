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
    results: Vec<Found>,
    #[serde(rename = "columnKind")]
    column_kind: String,
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
    bench.file("my lists/t\u{e9}.json", &document.to_string());
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
        assert_eq!(location.physical_location.region.start_line, 1);
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
