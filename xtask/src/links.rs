//! Every relative link of every page leads to a file of the repository.

use std::collections::BTreeSet;

use crate::markdown;
use crate::{Finding, Rule, SourceFile};

/// Follows the links of every Markdown file.
#[must_use]
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let places = places(files);
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_markdown()) {
        for (number, line) in markdown::prose(&file.text) {
            for target in markdown::links(line) {
                if !is_ours(target) {
                    continue;
                }
                if let Err(message) = follow(file, target, files, &places) {
                    findings.push(Finding::new(Rule::Link, &file.path, message).at(number));
                }
            }
        }
    }
    findings
}

/// Whether the target is a place of the repository: no address elsewhere, no path of Rust items.
fn is_ours(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:") && !target.contains("::")
}

fn follow(
    from: &SourceFile,
    target: &str,
    files: &[SourceFile],
    places: &BTreeSet<String>,
) -> Result<(), String> {
    let target = target.trim_start_matches('<').trim_end_matches('>');
    let (path, part) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        from.path.clone()
    } else {
        resolve(&from.path, path).ok_or_else(|| format!("{target} leaves the repository"))?
    };
    if !places.contains(&path) {
        return Err(format!("{target} leads to no file of the repository"));
    }
    let page = files
        .iter()
        .find(|file| file.path == path && file.is_markdown());
    if let Some(page) = page
        && !part.is_empty()
        && !markdown::headings(&page.text)
            .iter()
            .any(|heading| markdown::anchor(heading) == part)
    {
        return Err(format!("{path} has no heading #{part}"));
    }
    Ok(())
}

fn resolve(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Every file and every folder that holds one.
fn places(files: &[SourceFile]) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for file in files {
        let mut path = file.path.as_str();
        places.insert(path.to_owned());
        while let Some((folder, _)) = path.rsplit_once('/') {
            places.insert(folder.to_owned());
            path = folder;
        }
    }
    places
}
