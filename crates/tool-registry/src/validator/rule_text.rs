//! What a broken rule is called.

use jsonschema::error::{TypeKind, ValidationErrorKind};

/// The types that would have fitted.
pub(super) fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => kinds
            .iter()
            .map(|kind| kind.to_string())
            .collect::<Vec<_>>()
            .join(" or "),
    }
}

/// The rule that a value breaks, without the value.
pub(super) fn rule(kind: &ValidationErrorKind, keyword: &str) -> String {
    match kind {
        ValidationErrorKind::Minimum { limit } => format!("expected at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("expected at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("expected more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("expected less than {limit}"),
        ValidationErrorKind::MinLength { limit } => format!("expected at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("expected at most {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("expected at least {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("expected at most {limit} items"),
        ValidationErrorKind::Pattern { pattern } if pattern.len() <= 100 => {
            format!("expected a string that matches {pattern}")
        }
        ValidationErrorKind::FalseSchema => "expected no value".to_owned(),
        _ => format!("does not satisfy \"{keyword}\""),
    }
}
