//! README.md and ARCHITECTURE.md say what the manifests say.

use std::collections::BTreeSet;

use crate::markdown::{self, Table, code_spans};
use crate::{CrateNode, Finding, Graph, LayerTable, Rule, SourceFile};

const README: &str = "README.md";
const ARCHITECTURE: &str = "ARCHITECTURE.md";
const CI: &str = ".ci/run";

/// The one command that passes the tests: the readme shows it and the CI script ends with it.
const TEST_COMMAND: &str = "cargo xtask ci";

/// The crate whose features the readme of the repository lists.
const FACADE: &str = "tool-runtime";

/// Pages with a most of lines, so that they are read.
const LENGTHS: [(&str, usize); 2] = [(README, 150), (ARCHITECTURE, 300)];

/// Looks at the crate map, the feature tables, the chapters of the architecture, the lengths of the
/// pages and the command that CI runs.
#[must_use]
pub fn check(files: &[SourceFile], table: &LayerTable, graph: &Graph) -> Vec<Finding> {
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.map_or("", |file| file.text.as_str())
    };
    let mut findings = crate_map(text(README), table, graph);
    findings.extend(chapters(text(ARCHITECTURE), graph));
    findings.extend(test_command(text(README), text(CI)));
    for (path, most) in LENGTHS {
        let lines = text(path).lines().count();
        if lines > most {
            findings.push(docs(path, format!("{lines} lines, the most is {most}")));
        }
    }
    for node in graph.crates().filter(|node| node.published) {
        let own = format!("crates/{}/README.md", node.name);
        findings.extend(feature_table(&own, text(&own), node));
        if node.name == FACADE {
            findings.extend(feature_table(README, text(README), node));
        }
    }
    findings
}

fn crate_map(readme: &str, table: &LayerTable, graph: &Graph) -> Vec<Finding> {
    let Some(map) = Table::find(readme, &["crate", "layer"]) else {
        return vec![docs(README, "there is no table of the crates".to_owned())];
    };
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for row in &map.rows {
        let name = code_spans(row.cell(0)).first().copied().unwrap_or_default();
        named.insert(name);
        if !graph.get(name).is_some_and(|node| node.published) {
            findings
                .push(docs(README, format!("there is no published crate `{name}`")).at(row.line));
        } else if let Some(placed) = table.row(name)
            && placed.layer.to_string() != row.cell(1)
        {
            let message = format!("`{name}` stands in layer {}", placed.layer);
            findings.push(docs(README, message).at(row.line));
        }
    }
    for node in graph.crates().filter(|node| node.published) {
        if !named.contains(node.name.as_str()) {
            findings.push(docs(README, format!("the crate map lacks `{}`", node.name)));
        }
    }
    findings
}

/// Compares a table of features, which a crate with features has to have, with its manifest.
fn feature_table(path: &str, text: &str, node: &CrateNode) -> Vec<Finding> {
    let features: BTreeSet<&str> = node
        .features
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "default")
        .collect();
    let Some(table) = Table::find(text, &["feature", "default"]) else {
        if features.is_empty() {
            return Vec::new();
        }
        let message = format!("there is no table of the features of `{}`", node.name);
        return vec![docs(path, message)];
    };
    let on = on_by_default(node);
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for row in &table.rows {
        let name = code_spans(row.cell(0)).first().copied().unwrap_or_default();
        named.insert(name);
        let says = match row.cell(1) {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let message = if !features.contains(name) {
            format!("`{}` has no feature `{name}`", node.name)
        } else if says != Some(on.contains(name)) {
            let word = if on.contains(name) { "yes" } else { "no" };
            format!("the default of feature `{name}` is \"{word}\"")
        } else {
            continue;
        };
        findings.push(docs(path, message).at(row.line));
    }
    for name in features.difference(&named) {
        findings.push(docs(path, format!("the table lacks the feature `{name}`")));
    }
    findings
}

/// What `default` switches on, by itself or through another feature.
fn on_by_default(node: &CrateNode) -> BTreeSet<&str> {
    let mut on = BTreeSet::new();
    let mut open = vec!["default"];
    while let Some(name) = open.pop() {
        for below in node.features.get(name).into_iter().flatten() {
            if node.features.contains_key(below) && on.insert(below.as_str()) {
                open.push(below);
            }
        }
    }
    on
}

fn chapters(architecture: &str, graph: &Graph) -> Vec<Finding> {
    let headings = markdown::headings(architecture);
    graph
        .crates()
        .filter(|node| node.published && !headings.contains(&node.name))
        .map(|node| docs(ARCHITECTURE, format!("there is no chapter `{}`", node.name)))
        .collect()
}

fn test_command(readme: &str, ci: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !readme.lines().any(|line| line.trim() == TEST_COMMAND) {
        findings.push(docs(README, format!("does not show `{TEST_COMMAND}`")));
    }
    if ci.lines().last().map(str::trim) != Some(TEST_COMMAND) {
        findings.push(docs(CI, format!("does not end with `{TEST_COMMAND}`")));
    }
    findings
}

fn docs(path: &str, message: String) -> Finding {
    Finding::new(Rule::Docs, path, message)
}
