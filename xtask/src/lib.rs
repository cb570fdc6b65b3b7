//! The rules of this workspace, and the chores that check and run them.
//!
//! Every rule is a function over data: it is fed the real workspace by `cargo xtask` and by the
//! workspace tests, and bad fixtures by its own tests. Nothing but the workspace tests depends on
//! this crate.

pub mod arch;
pub mod changelog;
pub mod chores;
pub mod crate_docs;
pub mod disk;
pub mod fence;
pub mod file_grain;
pub mod laws;
pub mod links;
pub mod manifests;
pub mod rules;
pub mod text;
pub mod versions;
pub mod whole;

mod bench;
mod conformance;
mod console;
mod error;
mod exceptions;
mod feature_set;
mod finding;
mod graph;
mod invocation;
mod layers;
mod lock_file;
mod markdown;
mod peers;
mod run;
mod servers;
mod source_file;
mod totals;
mod workspace;

pub use bench::{BenchOptions, bench};
pub use conformance::{LeftOut, Outcomes, Suite, conformance};
pub use console::say;
pub use error::Error;
pub use exceptions::Exceptions;
pub use feature_set::FeatureSet;
pub use finding::{Finding, Rule, listed};
pub use graph::{CrateNode, Dependency, DependencyKind, Graph};
pub use invocation::Invocation;
pub use layers::{Layer, LayerTable, Row};
pub use lock_file::LockFile;
pub use peers::{Peer, Peers};
pub use run::{Run, Verdict};
pub use servers::real_servers;
pub use source_file::SourceFile;
pub use totals::Totals;
pub use workspace::Workspace;
