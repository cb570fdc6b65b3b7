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
    let direct: Vec<&str> = shipped(node).map(|edge| edge.name.as_str()).collect();
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
