//! Dependencies go downward, and the layer table says so.
//!
//! Every edge counts: optional, renamed, target-specific and build ones too. What only tests pull
//! in may lie anywhere below, or be a test kit. `tests/`, `examples/`, `bench/` and `xtask/` have no
//! other edges than those of their rows, tests included.

use crate::{CrateNode, Dependency, DependencyKind, Finding, Graph, Layer, LayerTable, Row, Rule};

const PAGE: &str = "ARCHITECTURE.md";

/// The one edge between crates that are no part of the product: the workspace tests run the rules.
const BETWEEN_OUTER: (&str, &str) = ("workspace-tests", "xtask");

/// Compares the crates with the table, in both directions.
#[must_use]
pub fn check(table: &LayerTable, graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for node in graph.crates() {
        match table.row(&node.name) {
            None => findings.push(Finding::new(
                Rule::UnplacedCrate,
                PAGE,
                format!(
                    "`{}` is a crate of this repository, and the layer table does not list it",
                    node.name
                ),
            )),
            Some(row) => {
                let wrong = |edge: &&Dependency| edge.internal && !may_have(table, row, edge);
                findings.extend(
                    node.dependencies
                        .iter()
                        .filter(wrong)
                        .map(|edge| forbidden(table, row, edge)),
                );
                if row.layer == Layer::L3 {
                    findings.extend(missing_from_facade(table, graph, row, node));
                }
            }
        }
    }
    for row in table.rows() {
        findings.extend(against_the_row(table, graph, row));
    }
    findings
}

fn may_have(table: &LayerTable, row: &Row, edge: &Dependency) -> bool {
    // What only tests pull in needs no entry, as it never reaches a consumer.
    if edge.kind == DependencyKind::Dev && row.layer != Layer::Outer {
        return table
            .row(&edge.name)
            .is_none_or(|below| row.layer.stands_above(below.layer) || below.layer == Layer::Test);
    }
    row.allows.contains(&edge.name)
}

fn forbidden(table: &LayerTable, row: &Row, edge: &Dependency) -> Finding {
    let target = match table.row(&edge.name) {
        Some(below) => format!("layer {}", below.layer),
        None => "no layer".to_owned(),
    };
    Finding::new(
        Rule::ForbiddenEdge,
        PAGE,
        format!(
            "`{}` (layer {}) has a {} dependency on `{}` ({target}), which its row does not allow",
            row.name, row.layer, edge.kind, edge.name
        ),
    )
    .at(row.line)
}

fn against_the_row(table: &LayerTable, graph: &Graph, row: &Row) -> Vec<Finding> {
    let Some(node) = graph.get(&row.name) else {
        return vec![
            Finding::new(
                Rule::StaleRow,
                PAGE,
                format!("there is no crate `{}`; take its row out", row.name),
            )
            .at(row.line),
        ];
    };
    let mut findings = Vec::new();
    for name in &row.allows {
        if !is_used(row, node, name) {
            findings.push(Finding::new(
                Rule::StaleRow,
                PAGE,
                format!(
                    "`{}` may depend on `{name}` and does not; take the allowance out",
                    row.name
                ),
            ));
        }
        if let Some(below) = table.row(name)
            && !row.layer.stands_above(below.layer)
            && (row.name.as_str(), name.as_str()) != BETWEEN_OUTER
        {
            findings.push(Finding::new(
                Rule::ForbiddenEdge,
                PAGE,
                format!(
                    "the row of `{}` (layer {}) allows `{name}` (layer {}), which is not below it",
                    row.name, row.layer, below.layer
                ),
            ));
        }
    }
    for finding in &mut findings {
        finding.line = Some(row.line);
    }
    findings
}

/// Whether a manifest has the edge in a table for which the row speaks.
fn is_used(row: &Row, node: &CrateNode, name: &str) -> bool {
    node.dependencies.iter().any(|edge| {
        edge.name == name && (edge.kind != DependencyKind::Dev || row.layer == Layer::Outer)
    })
}

fn missing_from_facade(
    table: &LayerTable,
    graph: &Graph,
    own: &Row,
    facade: &CrateNode,
) -> Vec<Finding> {
    table
        .rows()
        .iter()
        .filter(|row| Layer::L3.stands_above(row.layer))
        .filter(|row| graph.get(&row.name).is_some_and(|node| node.published))
        .filter(|row| {
            !facade
                .dependencies
                .iter()
                .any(|edge| edge.name == row.name && edge.kind == DependencyKind::Normal)
        })
        .map(|row| {
            Finding::new(
                Rule::ThinFacade,
                PAGE,
                format!(
                    "`{}` does not hold `{}`; whatever is published below the facade is in it",
                    facade.name, row.name
                ),
            )
            .at(own.line)
        })
        .collect()
}
