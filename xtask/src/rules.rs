//! The rules, fed the workspace on this disk.

use crate::{
    Error, Finding, Workspace, arch, changelog, crate_docs, fence, file_grain, laws, links,
    manifests, text, versions,
};

/// Edges, layers and the trees of the lower crates.
///
/// # Errors
/// When the table, a manifest or the lock file cannot be read.
pub fn arch(workspace: &Workspace) -> Result<Vec<Finding>, Error> {
    let (table, graph) = (workspace.layers()?, workspace.graph()?);
    let mut findings = arch::check(&table, &graph);
    findings.extend(fence::check(&table, &graph, &workspace.lock()?)?);
    Ok(findings)
}

/// Manifests, the grain of files and what no file holds, less what is excused.
///
/// # Errors
/// When the files cannot be listed, or a manifest or the list of exceptions cannot be read.
pub fn tidy(workspace: &Workspace) -> Result<Vec<Finding>, Error> {
    let files = workspace.files()?;
    let mut findings = manifests::check(&workspace.manifests()?);
    findings.extend(file_grain::check(&files));
    findings.extend(text::check(&files));
    Ok(workspace.exceptions()?.apply(findings))
}

/// Documents against manifests, links, versions and the guards of the laws.
///
/// # Errors
/// When the files cannot be listed, or a manifest or the layer table cannot be read.
pub fn docs(workspace: &Workspace) -> Result<Vec<Finding>, Error> {
    let files = workspace.files()?;
    let manifests = workspace.manifests()?;
    let said = |key: &str| {
        manifests
            .package_key(key)
            .ok_or_else(|| Error::new(format!("the workspace has no {key}")))
    };
    let version = said("version")?;
    let mut findings = crate_docs::check(&files, &workspace.layers()?, &workspace.graph()?);
    findings.extend(changelog::check(&workspace.read("CHANGELOG.md")?, version));
    findings.extend(versions::check(&files, version, said("rust-version")?));
    findings.extend(links::check(&files));
    findings.extend(laws::check(&files));
    Ok(findings)
}

/// What a run of tidy names without failing.
///
/// # Errors
/// When the files cannot be listed.
pub fn tidy_notes(workspace: &Workspace) -> Result<Vec<String>, Error> {
    Ok(file_grain::notes(&workspace.files()?))
}

/// What a run over the documents names without failing.
///
/// # Errors
/// When the files cannot be listed.
pub fn docs_notes(workspace: &Workspace) -> Result<Vec<String>, Error> {
    Ok(laws::unguarded(&workspace.files()?))
}
