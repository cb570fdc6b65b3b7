//! What is wrong with a value, in the words for whoever sent it.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;
use tool_core::{InvalidArguments, Issue};

use super::branches::{likely_branch, types_of_all};
use super::rule_text::{expected, rule};
use super::{STEPS_TO_SAY_WHY, Validator, type_name};
use crate::nearest::nearest;

/// Allowed values that are listed in an issue.
const MOST_ALLOWED: usize = 10;
/// Issues of several branches that are held against each other.
const MOST_COMPARED: usize = 64;

impl Validator {
    /// What is wrong with a value: `unsaid` where the schema cannot tell, `too_long` where that would
    /// take too many steps.
    pub(super) fn reasons(&self, value: &Value, unsaid: &str, too_long: &str) -> InvalidArguments {
        if !self.says_why {
            return endless(unsaid);
        }
        let issues = self.limited(STEPS_TO_SAY_WHY, value, || {
            let errors = self.compiled.iter_errors(value);
            let issues = errors.enumerate().flat_map(|(before, error)| {
                let read = InvalidArguments::MAX_ISSUES.saturating_sub(before);
                self.issues(&error, value, read)
            });
            InvalidArguments::new(issues)
        });
        issues.unwrap_or_else(|| endless(too_long))
    }

    /// The issues of one error, of which at most so many are read: the others are only counted, and
    /// looking for what was meant is not worth its time for them.
    fn issues(&self, error: &ValidationError<'_>, root: &Value, read: usize) -> Vec<Issue> {
        let path = error.instance_path().as_str().to_owned();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                vec![Issue::Missing {
                    path,
                    key: property.as_str().unwrap_or_default().to_owned(),
                }]
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = match read {
                    0 => Vec::new(),
                    _ => self.known_keys(error, root),
                };
                unexpected
                    .iter()
                    .enumerate()
                    .map(|(index, key)| Issue::UnknownKey {
                        path: path.clone(),
                        key: key.clone(),
                        nearest: (index < read)
                            .then(|| nearest(key, known.iter().map(String::as_str)))
                            .into_iter()
                            .flatten()
                            .next(),
                    })
                    .collect()
            }
            ValidationErrorKind::Type { kind } => vec![Issue::Type {
                path,
                expected: expected(kind),
                got: type_name(error.instance()),
            }],
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                vec![not_allowed(path, options, error.instance(), read > 0)]
            }
            ValidationErrorKind::Constant { expected_value } => {
                let options = std::slice::from_ref(&**expected_value);
                vec![not_allowed(path, options, error.instance(), read > 0)]
            }
            // A combination says nothing by itself. Where exactly one branch is of the value's
            // own type, its issues are what the caller needs to know.
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => match likely_branch(context) {
                Some(branch) => branch
                    .iter()
                    .enumerate()
                    .flat_map(|(before, error)| {
                        self.issues(error, root, read.saturating_sub(before))
                    })
                    .collect(),
                None => self.of_no_branch(context, error, root, read),
            },
            kind => vec![Issue::Constraint {
                path,
                rule: rule(kind, kind.keyword()),
            }],
        }
    }

    /// What is wrong with a value that no branch stands out for: its type, or what every branch
    /// says of it.
    fn of_no_branch(
        &self,
        branches: &[Vec<ValidationError<'static>>],
        error: &ValidationError<'_>,
        root: &Value,
        read: usize,
    ) -> Vec<Issue> {
        let path = error.instance_path().as_str().to_owned();
        if let Some(expected) = types_of_all(branches, &path) {
            let got = type_name(error.instance());
            return vec![Issue::Type {
                path,
                expected,
                got,
            }];
        }
        if branches.iter().map(Vec::len).sum::<usize>() <= MOST_COMPARED {
            let of = |branch: &Vec<ValidationError<'static>>| -> Vec<Issue> {
                let issues = branch
                    .iter()
                    .flat_map(|error| self.issues(error, root, read));
                issues.collect()
            };
            let mut branches = branches.iter().map(of);
            let mut shared = branches.next().unwrap_or_default();
            for branch in branches {
                shared.retain(|issue| branch.contains(issue));
            }
            if !shared.is_empty() {
                return shared;
            }
        }
        vec![Issue::Constraint {
            path,
            rule: "expected one of several forms, fits none".to_owned(),
        }]
    }

    /// The keys that the schema knows at the place of an error.
    fn known_keys(&self, error: &ValidationError<'_>, root: &Value) -> Vec<String> {
        let location = error.schema_path().as_str();
        let parent = location.rsplit_once('/').map_or("", |(parent, _)| parent);
        let given = root
            .pointer(error.instance_path().as_str())
            .and_then(Value::as_object);
        let mut known = Vec::new();
        if let Some(object) = self.schema.as_value().pointer(parent) {
            declared_keys(object, &mut known);
        }
        known
            .into_iter()
            // One that was given already is not what the caller misspelt.
            .filter(|key| !given.is_some_and(|given| given.contains_key(*key)))
            .cloned()
            .collect()
    }
}

/// The one issue of a value whose validation was given up.
pub(super) fn endless(rule: &str) -> InvalidArguments {
    InvalidArguments::new([Issue::Constraint {
        path: String::new(),
        rule: rule.to_owned(),
    }])
}

/// The keys that a schema declares for one object, in itself and in the parts that it combines.
fn declared_keys<'s>(schema: &'s Value, keys: &mut Vec<&'s String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        keys.extend(properties.keys());
    }
    for combination in ["allOf", "anyOf", "oneOf"] {
        let parts = schema.get(combination).and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            declared_keys(part, keys);
        }
    }
}

fn not_allowed(path: String, options: &[Value], given: &Value, is_read: bool) -> Issue {
    let nearest = given.as_str().filter(|_| is_read).and_then(|given| {
        let names = options.iter().filter_map(Value::as_str);
        nearest(given, names).into_iter().next()
    });
    Issue::NotAllowed {
        path,
        allowed: options
            .iter()
            .take(MOST_ALLOWED)
            .map(Value::to_string)
            .collect(),
        nearest: nearest.map(|name| Value::from(name).to_string()),
    }
}
