//! The changelog begins with what comes next.

use crate::{Finding, Rule};

const PAGE: &str = "CHANGELOG.md";

/// Looks at the first entry: it is unreleased, or it is the version of the workspace.
#[must_use]
pub fn check(text: &str, version: &str) -> Vec<Finding> {
    let Some((number, first)) =
        crate::markdown::prose(text).find(|(_, line)| line.starts_with("## "))
    else {
        return vec![Finding::new(Rule::Docs, PAGE, "there is no entry")];
    };
    let title = first.trim_start_matches("## ").replace(['[', ']'], "");
    let word = title.split_whitespace().next().unwrap_or_default();
    if word == "Unreleased" || word == version {
        return Vec::new();
    }
    let message = format!("the first entry is neither Unreleased nor {version}");
    vec![Finding::new(Rule::Docs, PAGE, message).at(number)]
}
