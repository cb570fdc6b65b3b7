//! The feature sets in which a crate has to compile.

use crate::CrateNode;

/// A choice of a crate's features, as arguments of cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeatureSet {
    /// What it is called in the table of a run.
    pub name: String,
    /// The arguments that choose it.
    pub args: Vec<String>,
    /// Whether tests and examples are compiled too. They may need more than a single feature.
    pub all_targets: bool,
}

impl FeatureSet {
    /// The sets of a crate: as it comes, with everything, with nothing, and with each feature alone.
    /// Of sets that mean the same only one is named, and a crate without features has one set.
    #[must_use]
    pub fn of(node: &CrateNode) -> Vec<Self> {
        let mut sets = vec![Self::new("default", &[], true)];
        let features: Vec<&str> = node
            .features
            .keys()
            .map(String::as_str)
            .filter(|name| *name != "default")
            .collect();
        if features.is_empty() {
            return sets;
        }
        sets.push(Self::new("all features", &["--all-features"], true));
        let nothing_by_default = node.features.get("default").is_none_or(Vec::is_empty);
        if !nothing_by_default {
            sets.push(Self::new("no features", &["--no-default-features"], false));
        }
        for feature in features {
            let args = ["--no-default-features", "--features", feature];
            sets.push(Self::new(&format!("only {feature}"), &args, false));
        }
        sets
    }

    fn new(name: &str, args: &[&str], all_targets: bool) -> Self {
        Self {
            name: name.to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
            all_targets,
        }
    }
}
