//! What is the same for every member is said once, in the manifest of the workspace.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::{Error, Finding, Rule, SourceFile};

/// The members that are never published. Every other one may be.
pub const UNPUBLISHED: [&str; 3] = ["examples", "workspace-tests", "xtask"];

/// Keys of `[package]` that every member takes from the workspace.
const INHERITED: [&str; 5] = [
    "version",
    "edition",
    "rust-version",
    "license",
    "repository",
];
/// Keys of `[package]` that a published member has, each with words of its own or inherited.
const DESCRIBED: [&str; 3] = ["description", "readme", "categories"];

const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
const ROOT: &str = "Cargo.toml";

/// The manifest of the workspace and those of its members.
#[derive(Clone, Debug)]
pub struct Manifests {
    root: Table,
    members: Vec<(String, Table)>,
}

impl Manifests {
    /// Reads the manifests.
    ///
    /// # Errors
    /// When one is no TOML.
    pub fn parse(root: &str, members: &[SourceFile]) -> Result<Self, Error> {
        let members: Result<Vec<(String, Table)>, Error> = members
            .iter()
            .map(|file| Ok((file.path.clone(), table(&file.path, &file.text)?)))
            .collect();
        Ok(Self {
            root: table(ROOT, root)?,
            members: members?,
        })
    }

    /// A key of `[workspace.package]` that is a text.
    #[must_use]
    pub fn package_key(&self, key: &str) -> Option<&str> {
        let package = self.root.get("workspace")?.get("package")?;
        package.get(key)?.as_str()
    }

    /// The entries of `[workspace.dependencies]`.
    fn offered(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.root
            .get("workspace")
            .and_then(|workspace| workspace.get("dependencies"))
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
    }
}

/// Looks at every manifest.
#[must_use]
pub fn check(manifests: &Manifests) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used = BTreeSet::new();
    for (path, member) in &manifests.members {
        let mut say = |message: String| findings.push(Finding::new(Rule::Manifest, path, message));
        check_package(member, &mut say);
        for (name, value) in asked_for(member) {
            if !inherits(value) {
                say(format!("dependency `{name}` is not `workspace = true`"));
            }
            used.insert(name);
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for (path, member) in &manifests.members {
        let name = name_of(member);
        names.push(name);
        let kept_back = member
            .get("package")
            .and_then(|package| package.get("publish"))
            == Some(&Value::Boolean(false));
        if kept_back != UNPUBLISHED.contains(&name) {
            let message = if kept_back {
                "is kept from being published and not on the list of those"
            } else {
                "has to say `publish = false`"
            };
            findings.push(Finding::new(Rule::Manifest, path, message));
        }
    }
    for name in UNPUBLISHED.iter().filter(|name| !names.contains(name)) {
        findings.push(Finding::new(
            Rule::Manifest,
            ROOT,
            format!("there is no `{name}`, and it is on the list of what is never published"),
        ));
    }
    findings.extend(check_offer(manifests, &used));
    findings
}

fn check_package(member: &Table, say: &mut impl FnMut(String)) {
    let package = member.get("package");
    for key in INHERITED {
        if !package.and_then(|it| it.get(key)).is_some_and(inherits) {
            say(format!("`{key}` is not inherited from the workspace"));
        }
    }
    if !member.get("lints").is_some_and(inherits) {
        say("the lints are not inherited from the workspace".to_owned());
    }
    if !UNPUBLISHED.contains(&name_of(member)) {
        for key in DESCRIBED {
            if package.and_then(|it| it.get(key)).is_none() {
                say(format!("`{key}` is missing, and the crate is published"));
            }
        }
    }
}

/// Crates of the repository carry a path and the common version; nothing is offered in vain.
fn check_offer(manifests: &Manifests, used: &BTreeSet<&str>) -> Vec<Finding> {
    let version = manifests.package_key("version");
    let mut findings = Vec::new();
    for (name, value) in manifests.offered() {
        if !used.contains(name) {
            findings.push(Finding::new(
                Rule::UnusedDependency,
                ROOT,
                format!("no member uses `{name}`"),
            ));
        }
        if value.get("path").is_some()
            && !UNPUBLISHED.contains(&name)
            && value.get("version").and_then(Value::as_str) != version
        {
            findings.push(Finding::new(
                Rule::Manifest,
                ROOT,
                format!("`{name}` does not carry the version of the workspace beside its path"),
            ));
        }
    }
    findings
}

/// Every dependency of every table, those of a target included.
fn asked_for(member: &Table) -> Vec<(&str, &Value)> {
    let of_targets = member
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    std::iter::once(member)
        .chain(of_targets)
        .flat_map(|holder| DEPENDENCY_TABLES.iter().filter_map(|key| holder.get(*key)))
        .filter_map(Value::as_table)
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
        .collect()
}

fn inherits(value: &Value) -> bool {
    value.get("workspace") == Some(&Value::Boolean(true))
}

fn name_of(member: &Table) -> &str {
    member
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn table(path: &str, text: &str) -> Result<Table, Error> {
    text.parse().map_err(|error| {
        Error::because(
            format!("{path} could not be read"),
            Box::new(error) as Box<toml::de::Error>,
        )
    })
}
