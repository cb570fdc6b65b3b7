//! What the branches of a combination say together.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use super::rule_text::expected;

/// The one branch that does not fail on the type of the value itself.
pub(super) fn likely_branch<'a>(
    branches: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a [ValidationError<'static>]> {
    let shallowest = branches
        .iter()
        .flatten()
        .map(|error| error.instance_path().as_str().len())
        .min()?;
    let mut fitting = branches.iter().filter(|errors| {
        !errors.iter().any(|error| {
            error.instance_path().as_str().len() == shallowest
                && matches!(error.kind(), ValidationErrorKind::Type { .. })
        })
    });
    let only = fitting.next()?;
    fitting.next().is_none().then_some(only.as_slice())
}

/// The types that the branches take, where each of them fails on the type of the value itself.
pub(super) fn types_of_all(
    branches: &[Vec<ValidationError<'static>>],
    path: &str,
) -> Option<String> {
    let mut kinds: Vec<String> = Vec::new();
    for branch in branches {
        let kind = branch.iter().find_map(|error| match error.kind() {
            ValidationErrorKind::Type { kind } if error.instance_path().as_str() == path => {
                Some(expected(kind))
            }
            _ => None,
        })?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    (!kinds.is_empty()).then(|| kinds.join(" or "))
}
