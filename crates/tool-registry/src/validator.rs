//! A schema, compiled once.

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;
use tool_core::{InvalidArguments, Issue, Output, Plain, Schema, Spoken};

use crate::expansion;
use crate::plan::{Instance as _, Plan};
use crate::repair::Reading;
use crate::steps::{self, Step};

mod branches;
mod reasons;
mod rule_text;

use reasons::endless;

/// Steps that a pattern with look-around may take before it counts as not matching.
const BACKTRACK_LIMIT: usize = 100_000;
/// References that may be followed to learn whether a value fits, and some for each of its parts.
const STEPS: usize = 100_000;
/// References that may be followed to learn why it does not.
const STEPS_TO_SAY_WHY: usize = 5_000;

/// A compiled schema.
///
/// The dialect is the one that `$schema` names, else 2020-12. No reference leaves the document.
/// Patterns run in linear time; those that need look-around run under a step limit, and so does the
/// following of references.
pub(crate) struct Validator {
    compiled: jsonschema::Validator,
    plan: Plan,
    schema: Schema,
    reading: Reading,
    refers: bool,
    says_why: bool,
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    /// What is wrong with it, as a clause to stand behind the schema's name.
    pub(crate) fn compile(schema: &Schema) -> Result<Self, String> {
        if !expansion::is_bounded(schema.as_value()) {
            return Err("says what is unevaluated of more parts than can be bounded".to_owned());
        }
        let metered = steps::metered(schema.as_value())?;
        let value = metered
            .as_ref()
            .map_or(schema.as_value(), |metered| &metered.schema);
        let options = || {
            jsonschema::options()
                .offline()
                .with_keyword(steps::KEYWORD, Step::factory)
        };
        let compiled = options()
            .with_pattern_options(PatternOptions::regex())
            .build(value)
            .or_else(|_| {
                options()
                    .with_pattern_options(
                        PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT),
                    )
                    .build(value)
            })
            .map_err(|error| match error.instance_path().as_str() {
                "" => format!("does not compile: {}", error.masked()),
                path => format!("does not compile at {path}: {}", error.masked()),
            })?;
        Ok(Self {
            compiled,
            plan: Plan::of(schema.as_value()),
            schema: schema.clone(),
            reading: Reading::of(schema.as_value()),
            refers: metered.is_some(),
            says_why: metered.is_none_or(|metered| metered.says_why),
        })
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.verdict(value).unwrap_or(false)
    }

    /// Whether output fits. A value is made of it only where that has to be asked.
    pub(crate) fn takes(&self, output: &Output) -> bool {
        let planned = output.plain().and_then(|plain| self.verdict_on(plain));
        planned.unwrap_or_else(|| self.is_valid(output.value()))
    }

    /// How the schema is to be read.
    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    /// The schema as its author wrote it.
    pub(crate) fn schema(&self) -> &Value {
        self.schema.as_value()
    }

    /// The keys of the value itself that a closed schema does not know.
    pub(crate) fn unknown_keys(&self, value: &Value) -> Vec<String> {
        let unknown = self.read_errors(value, |error| match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected }
                if error.instance_path().as_str().is_empty() =>
            {
                Some(unexpected.clone())
            }
            _ => None,
        });
        unknown.into_iter().flatten().collect()
    }

    /// Places whose value fits more than one of the forms of which it may have one.
    pub(crate) fn ambiguous_places(&self, value: &Value) -> Vec<String> {
        self.read_errors(value, |error| match error.kind() {
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                Some(error.instance_path().as_str().to_owned())
            }
            _ => None,
        })
    }

    /// What is read from the errors of a value. Nothing where they do not say why, or take too many
    /// steps to find.
    fn read_errors<T>(
        &self,
        value: &Value,
        read: impl Fn(&ValidationError<'_>) -> Option<T>,
    ) -> Vec<T> {
        if !self.says_why {
            return Vec::new();
        }
        let found = self.limited(STEPS_TO_SAY_WHY, value, || {
            let errors = self.compiled.iter_errors(value);
            errors.filter_map(|error| read(&error)).collect()
        });
        found.unwrap_or_default()
    }

    /// Whether a value fits, or nothing when that takes too many steps to learn.
    pub(crate) fn verdict(&self, value: &Value) -> Option<bool> {
        let planned = self.plan.fits(value);
        planned.or_else(|| self.limited(STEPS, value, || self.compiled.is_valid(value)))
    }

    /// Whether it fits what is no value yet. Nothing where one has to be made to learn it.
    pub(crate) fn verdict_on(&self, plain: &Plain<'_>) -> Option<bool> {
        self.plan.fits(plain)
    }

    fn limited<T>(&self, steps: usize, value: &Value, run: impl FnOnce() -> T) -> Option<T> {
        if self.refers {
            steps::within(steps, value, run)
        } else {
            Some(run())
        }
    }

    /// Validates arguments.
    pub(crate) fn check(&self, value: &Value) -> Result<(), InvalidArguments> {
        match self.verdict(value) {
            Some(true) => Ok(()),
            Some(false) => Err(self.why_not(value)),
            None => Err(endless(
                "checking the arguments takes too long; send fewer or flatter ones",
            )),
        }
    }

    /// Why arguments do not fit as they were read, of which it is known that they don't. The
    /// validator is asked, and a value made of them, only where the plan cannot say it.
    pub(crate) fn why_not_as_read(&self, input: &Spoken<'_>) -> InvalidArguments {
        let said = match input.plain() {
            Some(plain @ Plain::Object(_)) => self.plan.misfit(plain),
            Some(_) => None,
            None if input.value().is_object() => self.plan.misfit(input.value()),
            None => None,
        };
        match said {
            Some(issue) => InvalidArguments::new([issue]),
            None => self.why_not(input.value()),
        }
    }

    /// Why arguments do not fit, of which it is known that they don't.
    pub(crate) fn why_not(&self, value: &Value) -> InvalidArguments {
        if !value.is_object() {
            return InvalidArguments::new([Issue::NotObject {
                got: type_name(value),
            }]);
        }
        self.reasons(
            value,
            "the arguments do not fit the schema of the tool",
            "the arguments do not fit; where they do not takes too long to find, so send flatter ones",
        )
    }

    /// Why a result does not fit, of which it is known that it doesn't.
    pub(crate) fn why_not_result(&self, value: &Value) -> InvalidArguments {
        self.reasons(
            value,
            "the result does not fit the schema of the tool",
            "the result does not fit; where it does not takes too long to find",
        )
    }
}

/// The JSON Schema name of a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    value.look().type_name()
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validator(..)")
    }
}
