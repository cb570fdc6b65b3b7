//! Cargo.lock: the full resolution, of every platform and feature.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::Error;

/// The packages of Cargo.lock and what each pulls in.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    packages: BTreeMap<Package, Vec<Package>>,
}

/// A package by name and version.
type Package = (String, String);

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    package: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl LockFile {
    /// Reads the text of a Cargo.lock.
    ///
    /// # Errors
    /// When it is no lock file, or a package pulls in one that it does not list.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let document: Document = toml::from_str(text)
            .map_err(|error| Error::because("Cargo.lock could not be read", error))?;
        let listed: Vec<Package> = document
            .package
            .iter()
            .map(|entry| (entry.name.clone(), entry.version.clone()))
            .collect();
        let mut packages = BTreeMap::new();
        for entry in document.package {
            let pulled: Result<Vec<Package>, Error> = entry
                .dependencies
                .iter()
                .map(|reference| resolve(&listed, reference))
                .collect();
            packages.insert((entry.name, entry.version), pulled?);
        }
        Ok(Self { packages })
    }

    /// The shortest ways from one member, over those of its direct dependencies, to every package
    /// of its tree. A way begins with the direct dependency and ends with the package.
    ///
    /// # Errors
    /// When the lock file does not list the member, or not one of the direct dependencies: an
    /// absence there says nothing about the tree.
    pub fn tree(&self, member: &str, direct: &[&str]) -> Result<Vec<Vec<String>>, Error> {
        let Some((_, pulled)) = self.packages.iter().find(|((name, _), _)| name == member) else {
            return Err(Error::new(format!("Cargo.lock does not list {member}")));
        };
        let mut seen = BTreeSet::new();
        let mut front: Vec<(Package, Vec<String>)> = Vec::new();
        for name in direct {
            let before = front.len();
            let of_that_name = pulled.iter().filter(|(pulled, _)| pulled == name);
            front.extend(of_that_name.map(|package| (package.clone(), vec![package.0.clone()])));
            if front.len() == before {
                return Err(Error::new(format!(
                    "Cargo.lock does not list {name} below {member}; is it up to date?"
                )));
            }
        }
        let mut ways = Vec::new();
        while !front.is_empty() {
            let mut next = Vec::new();
            for (package, way) in front {
                if !seen.insert(package.clone()) {
                    continue;
                }
                for below in self.packages.get(&package).into_iter().flatten() {
                    let mut longer = way.clone();
                    longer.push(below.0.clone());
                    next.push((below.clone(), longer));
                }
                ways.push(way);
            }
            front = next;
        }
        Ok(ways)
    }
}

/// A reference is a name, followed by a version where the name alone is ambiguous.
fn resolve(listed: &[Package], reference: &str) -> Result<Package, Error> {
    let mut words = reference.split(' ');
    let name = words.next().unwrap_or_default();
    let version = words.next();
    listed
        .iter()
        .find(|(listed, of)| listed == name && version.is_none_or(|version| version == of))
        .cloned()
        .ok_or_else(|| {
            Error::new(format!(
                "Cargo.lock pulls in {reference} and does not list it"
            ))
        })
}
