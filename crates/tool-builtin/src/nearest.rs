//! Names that are near a misspelt one.

use std::path::Path;

use crate::Workspace;
use crate::place::shown;

/// The end of a sentence about a missing path: the names in its folder that are nearest, or the
/// folder that does exist.
pub(crate) fn hint(workspace: &Workspace, missing: &Path) -> String {
    let name = missing.file_name().unwrap_or_default().to_string_lossy();
    let parent = missing.parent().unwrap_or(Path::new(""));
    let Ok(names) = names_in(workspace, parent) else {
        let existing = parent
            .ancestors()
            .find(|above| workspace.open_folder(above).is_ok())
            .unwrap_or(Path::new(""));
        return format!("; the nearest folder that exists is {}", shown(existing));
    };
    let near = nearest(&name, names);
    if near.is_empty() {
        return String::new();
    }
    let near: Vec<_> = near.iter().map(|name| shown(&parent.join(name))).collect();
    format!("; did you mean {}?", near.join(" or "))
}

/// At most three names that are near, nearest first.
fn nearest(name: &str, names: Vec<String>) -> Vec<String> {
    const ENOUGH: f64 = 0.6;
    let folded = name.to_lowercase();
    let stem = |name: &str| Path::new(name).file_stem().map(|stem| stem.to_owned());
    let mut near: Vec<(f64, String)> = names
        .into_iter()
        .filter_map(|candidate| {
            let likeness =
                strsim::normalized_damerau_levenshtein(&folded, &candidate.to_lowercase());
            let likeness = if stem(&candidate) == stem(name) {
                likeness.max(ENOUGH)
            } else {
                likeness
            };
            (likeness >= ENOUGH).then_some((likeness, candidate))
        })
        .collect();
    near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

fn names_in(workspace: &Workspace, folder: &Path) -> std::io::Result<Vec<String>> {
    // A likeness is worth its cost only in folders that a person could still survey.
    const MOST: usize = 5_000;
    let listing = workspace.open_folder(folder)?.entries()?;
    Ok(listing
        .take(MOST)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect())
}
