//! A consumer of one crate does not pull in the tree of the others.
//!
//! Judged by what Cargo.lock holds, which is the resolution for every platform and with every
//! feature: more than one consumer ever gets, never less.

use crate::{
    CrateNode, Dependency, DependencyKind, Error, Finding, Graph, Layer, LayerTable, LockFile, Rule,
};

const PAGE: &str = "Cargo.lock";

/// Async runtimes, which the definition model works without.
const RUNTIMES: [&str; 5] = [
    "tokio",
    "async-std",
    "async-global-executor",
    "smol",
    "async-io",
];

/// HTTP and TLS, which begin with the adapters.
const NETWORK: [&str; 18] = [
    "axum",
    "aws-lc-rs",
    "aws-lc-sys",
    "curl",
    "h2",
    "hyper",
    "hyper-util",
    "isahc",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "ring",
    "rustls",
    "schannel",
    "security-framework",
    "ureq",
];

/// The parts of tokio that wait and hand over, but never spawn and never touch a socket.
const QUIET_TOKIO: [&str; 2] = ["sync", "time"];

/// What may bring HTTP and TLS into a lower layer all the same: a crate and a dependency of it,
/// which is there by a feature and never by default.
const BEHIND_A_FEATURE: [(&str, &str); 1] = [("tool-storage", "object_store")];

/// Compares the trees of the lower layers with what they may hold.
///
/// # Errors
/// When the lock file does not list what a manifest asks for, as nothing is known then.
pub fn check(table: &LayerTable, graph: &Graph, lock: &LockFile) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for row in table.rows() {
        let Some(node) = graph.get(&row.name) else {
            continue;
        };
        match row.layer {
            Layer::L0 => {
                let kept_out = [&RUNTIMES[..], &NETWORK[..]].concat();
                findings.extend(held(node, lock, &kept_out)?);
            }
            Layer::L1 => {
                findings.extend(held(node, lock, &NETWORK)?);
                findings.extend(loud_tokio(node));
            }
            Layer::L2 | Layer::L3 | Layer::App | Layer::Test | Layer::Outer => {}
        }
    }
    Ok(findings)
}

/// What of the list the crate pulls in, each with the way to it.
fn held(node: &CrateNode, lock: &LockFile, kept_out: &[&str]) -> Result<Vec<Finding>, Error> {
    let direct: Vec<&str> = shipped(node)
        .filter(|edge| !is_behind_a_feature(node, edge))
        .map(|edge| edge.name.as_str())
        .collect();
    let ways = lock.tree(&node.name, &direct)?;
    Ok(ways
        .into_iter()
        .filter(|way| {
            way.last()
                .is_some_and(|last| kept_out.contains(&last.as_str()))
        })
        .map(|way| {
            Finding::new(
                Rule::HeavyTree,
                PAGE,
                format!("{} -> {}", node.name, way.join(" -> ")),
            )
        })
        .collect())
}

/// Whether the dependency is one of those that a feature may bring in, and nothing else does.
fn is_behind_a_feature(node: &CrateNode, edge: &Dependency) -> bool {
    let is_listed = BEHIND_A_FEATURE.contains(&(node.name.as_str(), edge.name.as_str()));
    is_listed && edge.optional && !is_on_by_default(node, &edge.name)
}

/// Whether a dependency is switched on where nobody asks for a feature.
fn is_on_by_default(node: &CrateNode, dependency: &str) -> bool {
    let mut asked = vec!["default"];
    let mut seen = Vec::new();
    while let Some(feature) = asked.pop() {
        if seen.contains(&feature) {
            continue;
        }
        seen.push(feature);
        for on in node.features.get(feature).into_iter().flatten() {
            // `name?/feature` alone brings nothing in.
            let named = on
                .strip_prefix("dep:")
                .or_else(|| Some(on.split_once('/')?.0));
            if named.unwrap_or(on) == dependency {
                return true;
            }
            asked.push(on);
        }
    }
    false
}

/// The features of tokio that the crate asks for, by itself or through a feature of its own.
fn loud_tokio(node: &CrateNode) -> Vec<Finding> {
    let asked = shipped(node)
        .filter(|edge| edge.name == "tokio")
        .flat_map(|edge| edge.features.iter().map(String::as_str));
    let by_feature = node.features.values().flatten().filter_map(|on| {
        on.strip_prefix("tokio/")
            .or_else(|| on.strip_prefix("tokio?/"))
    });
    asked
        .chain(by_feature)
        .filter(|feature| !QUIET_TOKIO.contains(feature))
        .map(|feature| {
            Finding::new(
                Rule::HeavyTree,
                format!("crates/{}/Cargo.toml", node.name),
                format!(
                    "asks for tokio's `{feature}`; this layer takes only {}",
                    QUIET_TOKIO.join(" and ")
                ),
            )
        })
        .collect()
}

fn shipped(node: &CrateNode) -> impl Iterator<Item = &Dependency> {
    node.dependencies
        .iter()
        .filter(|edge| edge.kind != DependencyKind::Dev)
}
