//! The crates of the workspace and what they ask for.

use std::collections::BTreeMap;
use std::fmt;

use cargo_metadata::Metadata;

/// The crates of the workspace and their dependencies, as their manifests declare them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    crates: BTreeMap<String, CrateNode>,
}

/// One crate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CrateNode {
    /// The name of the package.
    pub name: String,
    /// Whether it may be published.
    pub published: bool,
    /// The features and what each switches on.
    pub features: BTreeMap<String, Vec<String>>,
    /// Everything that the manifest asks for: optional, target-specific and renamed ones too.
    pub dependencies: Vec<Dependency>,
}

/// One entry of a manifest's dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// The name of the package, never the name that the manifest gives it.
    pub name: String,
    /// In which table it stands.
    pub kind: DependencyKind,
    /// Whether it lies in this repository.
    pub internal: bool,
    /// The features that the manifest asks for.
    pub features: Vec<String>,
    /// Whether it is there only where a feature asks for it.
    pub optional: bool,
}

/// The table of a manifest in which a dependency stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "cargo has these three")]
pub enum DependencyKind {
    /// `[dependencies]`.
    Normal,
    /// `[build-dependencies]`.
    Build,
    /// `[dev-dependencies]`.
    Dev,
}

impl Graph {
    /// A graph of these crates.
    pub fn new(crates: impl IntoIterator<Item = CrateNode>) -> Self {
        Self {
            crates: crates
                .into_iter()
                .map(|node| (node.name.clone(), node))
                .collect(),
        }
    }

    /// The graph of the members of some workspaces.
    #[must_use]
    pub fn from_metadata(workspaces: &[Metadata]) -> Self {
        Self::new(
            workspaces
                .iter()
                .flat_map(Metadata::workspace_packages)
                .map(CrateNode::from_package),
        )
    }

    /// The crates, by name.
    pub fn crates(&self) -> impl Iterator<Item = &CrateNode> {
        self.crates.values()
    }

    /// The crate of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CrateNode> {
        self.crates.get(name)
    }
}

impl CrateNode {
    /// A published crate without features and dependencies.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            published: true,
            features: BTreeMap::new(),
            dependencies: Vec::new(),
        }
    }

    /// Adds a dependency on another crate of the repository.
    #[must_use]
    pub fn needs(mut self, name: impl Into<String>, kind: DependencyKind) -> Self {
        self.dependencies.push(Dependency {
            name: name.into(),
            kind,
            internal: true,
            features: Vec::new(),
            optional: false,
        });
        self
    }

    /// Adds a normal dependency on a package from elsewhere, with these features of it.
    #[must_use]
    pub fn needs_foreign(mut self, name: impl Into<String>, features: &[&str]) -> Self {
        self.dependencies.push(Dependency {
            name: name.into(),
            kind: DependencyKind::Normal,
            internal: false,
            features: features.iter().map(ToString::to_string).collect(),
            optional: false,
        });
        self
    }

    /// Adds a normal dependency on a package from elsewhere that only a feature asks for.
    #[must_use]
    pub fn needs_optional(mut self, name: impl Into<String>) -> Self {
        self.dependencies.push(Dependency {
            name: name.into(),
            kind: DependencyKind::Normal,
            internal: false,
            features: Vec::new(),
            optional: true,
        });
        self
    }

    /// Adds a feature.
    #[must_use]
    pub fn feature(mut self, name: impl Into<String>, switches_on: &[&str]) -> Self {
        let switches_on = switches_on.iter().map(ToString::to_string).collect();
        self.features.insert(name.into(), switches_on);
        self
    }

    /// Keeps the crate from being published.
    #[must_use]
    pub fn unpublished(mut self) -> Self {
        self.published = false;
        self
    }

    fn from_package(package: &cargo_metadata::Package) -> Self {
        Self {
            name: package.name.to_string(),
            published: package.publish.as_ref().is_none_or(|to| !to.is_empty()),
            features: package
                .features
                .iter()
                .map(|(name, on)| (name.clone(), on.clone()))
                .collect(),
            dependencies: package
                .dependencies
                .iter()
                .map(Dependency::from_metadata)
                .collect(),
        }
    }
}

impl Dependency {
    fn from_metadata(dependency: &cargo_metadata::Dependency) -> Self {
        Self {
            name: dependency.name.clone(),
            kind: match dependency.kind {
                cargo_metadata::DependencyKind::Development => DependencyKind::Dev,
                cargo_metadata::DependencyKind::Build => DependencyKind::Build,
                // A kind that cargo may add counts as the strictest one.
                _ => DependencyKind::Normal,
            },
            internal: dependency.path.is_some(),
            features: dependency.features.clone(),
            optional: dependency.optional,
        }
    }
}

impl fmt::Display for DependencyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Build => "build",
            Self::Dev => "dev",
        })
    }
}
