//! The text of a policy file.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::example::Example;
use crate::rule::Origin;
use crate::{Effect, LoadError, LoadErrorKind, Rule};

/// The version of the grammar that is read here.
const VERSION: &str = "1";

const KEYS_OF_FILE: &[&str] = &["version", "rule"];
const KEYS_OF_RULE: &[&str] = &[
    "effect",
    "action",
    "resource",
    "reason",
    "source",
    "agent",
    "arguments",
    "sticky",
    "match",
    "not_match",
];

/// Reads all rules of a file, or none. Keys of the file that are in `beside` are somebody else's.
pub(crate) fn rules(place: &Arc<str>, text: &str, beside: &[&str]) -> Result<Vec<Rule>, LoadError> {
    let file = File::new(place, text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let problem = format!(
            "this is not TOML ({}); complete or correct it",
            error.message()
        );
        let error_at = error.span().unwrap_or(text.len()..text.len());
        file.error(LoadErrorKind::Syntax, error_at, problem)
    })?;
    let table = parsed.get_ref();

    // The version is looked at first: a later grammar may have keys that this one lacks.
    file.version(table)?;
    file.known_keys(table, &[KEYS_OF_FILE, beside].concat(), "the file")?;
    let Some(rules) = table.get("rule") else {
        return Ok(Vec::new());
    };
    let rules = rules.get_ref().as_array().ok_or_else(|| {
        let problem = "`rule` must be tables; write each rule under a line `[[rule]]`";
        file.error(LoadErrorKind::Value, rules.span(), problem)
    })?;
    rules.iter().map(|rule| file.rule(rule)).collect()
}

struct File<'a> {
    place: &'a Arc<str>,
    /// Where each line ends.
    ends: Vec<usize>,
}

/// A value that was found under a key.
type Found<'a> = Option<&'a Spanned<DeValue<'a>>>;

impl<'a> File<'a> {
    fn new(place: &'a Arc<str>, text: &str) -> Self {
        Self {
            place,
            ends: text.match_indices('\n').map(|(at, _)| at).collect(),
        }
    }

    fn version(&self, table: &DeTable<'_>) -> Result<(), LoadError> {
        let Some(version) = table.get("version") else {
            let problem = format!(
                "the policy file has no version; write `version = {VERSION}` as its first line"
            );
            return Err(LoadError::new(LoadErrorKind::Version, self.place, problem));
        };
        match version.get_ref() {
            DeValue::Integer(number) if number.as_str() == VERSION => Ok(()),
            other => {
                let shown = match other {
                    DeValue::Integer(number) => number.to_string(),
                    other => format!("of type {}", other.type_str()),
                };
                let problem = format!(
                    "version {shown} is not known; write `version = {VERSION}`, or use a program that reads it"
                );
                Err(self.error(LoadErrorKind::Version, version.span(), problem))
            }
        }
    }

    fn known_keys(&self, table: &DeTable<'_>, known: &[&str], what: &str) -> Result<(), LoadError> {
        // The table is sorted by key; the first that a reader meets is the one to name.
        let unknown = table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        match unknown {
            None => Ok(()),
            Some(key) => {
                let problem = format!(
                    "{what} has no key `{}`; its keys are {}",
                    key.get_ref().escape_debug(),
                    known.join(", ")
                );
                Err(self.error(LoadErrorKind::Key, key.span(), problem))
            }
        }
    }

    fn rule(&self, value: &Spanned<DeValue<'_>>) -> Result<Rule, LoadError> {
        let table = value.get_ref().as_table().ok_or_else(|| {
            let problem = "a rule must be a table; write it under a line `[[rule]]`";
            self.error(LoadErrorKind::Value, value.span(), problem)
        })?;
        self.known_keys(table, KEYS_OF_RULE, "a rule")?;

        let required = |key: &str| {
            table.get(key).ok_or_else(|| {
                let problem = format!("the rule has no `{key}`; add it");
                self.error(LoadErrorKind::Key, value.span(), problem)
            })
        };
        let effect_at = required("effect")?;
        let effect = Effect::of(self.text("effect", effect_at)?).ok_or_else(|| {
            let problem = "`effect` is not known; write \"allow\", \"ask\" or \"deny\"";
            self.error(LoadErrorKind::Value, effect_at.span(), problem)
        })?;
        let action = self.text("action", required("action")?)?;
        let resource = self.text("resource", required("resource")?)?;

        let mut rule = Rule::new(effect, action, resource);
        if let Some(reason) = self.optional_text(table, "reason")? {
            rule = rule.reason(reason);
        }
        if let Some(source) = self.optional_text(table, "source")? {
            rule = rule.source(source);
        }
        if let Some(agent) = self.optional_text(table, "agent")? {
            rule = rule.agent(agent);
        }
        for (pointer, pattern) in self.arguments(table.get("arguments"))? {
            rule = rule.argument(pointer, pattern);
        }
        if self.optional_flag(table.get("sticky"))? {
            rule = rule.sticky();
        }
        rule.check()
            .map_err(|problem| self.error(LoadErrorKind::Value, value.span(), problem))?;
        self.examples(&rule, "match", table.get("match"))?;
        self.examples(&rule, "not_match", table.get("not_match"))?;

        Ok(rule.at(Origin {
            place: Arc::clone(self.place),
            line: self.line(&value.span()),
        }))
    }

    /// Checks that the examples of a rule come out as they say.
    fn examples(&self, rule: &Rule, key: &str, examples: Found<'_>) -> Result<(), LoadError> {
        let Some(examples) = examples else {
            return Ok(());
        };
        let listed = examples.get_ref().as_array().ok_or_else(|| {
            let problem = format!("`{key}` must be a list of texts");
            self.error(LoadErrorKind::Value, examples.span(), problem)
        })?;
        for example in listed {
            let tried = self.example(key, example)?;
            let text = &tried.resource;
            if tried.matches(rule) != (key == "match") {
                let says = match key {
                    "match" => "does not match",
                    _ => "matches",
                };
                let problem = format!(
                    "the rule \"{rule}\" {says} the example \"{}\" in its `{key}`; correct one of them",
                    text.escape_debug()
                );
                return Err(self.error(LoadErrorKind::Example, example.span(), problem));
            }
        }
        Ok(())
    }

    /// An example: a text, or a table of a text and the arguments of a call.
    fn example(&self, key: &str, example: &Spanned<DeValue<'_>>) -> Result<Example, LoadError> {
        let Some(table) = example.get_ref().as_table() else {
            return Ok(Example::of(self.text(key, example)?));
        };
        self.known_keys(table, &["resource", "arguments"], "an example")?;
        let resource = table.get("resource").ok_or_else(|| {
            let problem = "the example has no `resource`; add it";
            self.error(LoadErrorKind::Key, example.span(), problem)
        })?;
        Ok(Example {
            resource: self.text("resource", resource)?.to_owned(),
            arguments: table.get("arguments").map(|given| json(given.get_ref())),
        })
    }

    /// The conditions on arguments: a pattern for each JSON pointer.
    fn arguments(&self, conditions: Found<'_>) -> Result<Vec<(String, String)>, LoadError> {
        let Some(conditions) = conditions else {
            return Ok(Vec::new());
        };
        let table = conditions.get_ref().as_table().ok_or_else(|| {
            let problem = "`arguments` must be a table; write { \"/name\" = \"pattern\" }";
            self.error(LoadErrorKind::Value, conditions.span(), problem)
        })?;
        if table.is_empty() {
            let problem = "`arguments` holds no condition; give it one or leave it out";
            return Err(self.error(LoadErrorKind::Value, conditions.span(), problem));
        }
        table
            .iter()
            .map(|(pointer, pattern)| {
                let pattern = self.text("arguments", pattern)?;
                Ok((pointer.get_ref().to_string(), pattern.to_owned()))
            })
            .collect()
    }

    fn optional_text<'t>(
        &self,
        table: &'t DeTable<'_>,
        key: &str,
    ) -> Result<Option<&'t str>, LoadError> {
        table
            .get(key)
            .map(|value| self.text(key, value))
            .transpose()
    }

    fn optional_flag(&self, value: Found<'_>) -> Result<bool, LoadError> {
        let Some(value) = value else {
            return Ok(false);
        };
        value.get_ref().as_bool().ok_or_else(|| {
            let problem = "`sticky` must be true or false";
            self.error(LoadErrorKind::Value, value.span(), problem)
        })
    }

    fn text<'t>(&self, key: &str, value: &'t Spanned<DeValue<'_>>) -> Result<&'t str, LoadError> {
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => {
                let problem = format!("`{key}` is blank; give it a text or leave it out");
                Err(self.error(LoadErrorKind::Value, value.span(), problem))
            }
            None => {
                let problem = format!(
                    "`{key}` is of type {} and must be a text in quotes",
                    value.get_ref().type_str()
                );
                Err(self.error(LoadErrorKind::Value, value.span(), problem))
            }
        }
    }

    fn error(
        &self,
        kind: LoadErrorKind,
        span: Range<usize>,
        problem: impl Into<String>,
    ) -> LoadError {
        LoadError::new(kind, self.place, problem).line(self.line(&span))
    }

    fn line(&self, span: &Range<usize>) -> usize {
        self.ends.partition_point(|end| *end < span.start) + 1
    }
}

/// A value of TOML as JSON; a date is its text.
fn json(value: &DeValue<'_>) -> serde_json::Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.as_str().into(), Into::into),
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map_or_else(|_| number.as_str().into(), Into::into),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(moment) => moment.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
