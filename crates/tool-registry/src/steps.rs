//! A limit on the steps of one validation, and on how deep they lead.
//!
//! Whatever leads to more work than a schema and a value have parts goes through a reference: a
//! chain of references that each stand twice doubles the work with every link, and so does a
//! recursive schema whose branches share a key with every level of the arguments. A plain chain
//! that is long enough overflows the stack. So each reference costs a step, and a validation that
//! runs out of steps or of stack is given up.

use std::cell::Cell;

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value, json};

/// A keyword that no author of a schema writes.
pub(crate) const KEYWORD: &str = "!tool-registry/step";

/// Steps for each part of what is validated, as long lists need them.
const PER_PART: usize = 16;

/// Stack that one validation may use, in bytes: half of what a thread of a runtime has.
const STACK: usize = 1 << 20;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

thread_local! {
    /// What is left to the validation that runs on this thread.
    static LEFT: Cell<usize> = const { Cell::new(0) };
    /// Where its stack begins.
    static BASE: Cell<usize> = const { Cell::new(0) };
}

/// A schema whose references cost steps.
pub(crate) struct Metered {
    pub(crate) schema: Value,
    /// Whether looking for all errors ends too. Without conditions in the dialect it need not.
    pub(crate) says_why: bool,
}

/// Makes the references of a schema cost steps. Gives nothing when it has none.
///
/// # Errors
/// When parts of the schema are of another dialect than the whole.
pub(crate) fn metered(schema: &Value) -> Result<Option<Metered>, String> {
    let mut metering = Metering {
        dialect: Dialect::of(schema),
        named: schema.get("$schema"),
        found: false,
        mixed: false,
    };
    let mut metered = schema.clone();
    metering.schema(&mut metered, true);
    if metering.mixed {
        return Err("names a second dialect inside itself; keep to one".to_owned());
    }
    Ok(metering.found.then(|| Metered {
        schema: metered,
        says_why: metering.dialect != Dialect::Unconditional,
    }))
}

/// Runs one validation, which may take so many steps and some more for each part of the value.
/// Gives nothing when they did not suffice; what the validation said is then worth nothing.
pub(crate) fn within<T>(steps: usize, value: &Value, validation: impl FnOnce() -> T) -> Option<T> {
    BASE.set(stack_position());
    LEFT.set(steps.saturating_add(parts(value).saturating_mul(PER_PART)));
    let said = validation();
    (LEFT.get() > 0).then_some(said)
}

/// About where the stack is now. Only ever compared with another such place.
fn stack_position() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

/// The keyword's own validator: it accepts everything as long as steps are left.
pub(crate) struct Step;

impl Step {
    #[expect(clippy::unnecessary_wraps, reason = "the signature is the validator's")]
    pub(crate) fn factory<'a>(
        _: &'a Map<String, Value>,
        _: &'a Value,
        _: Location,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        Ok(Box::new(Self))
    }
}

impl<'i> Keyword<'i> for Step {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("no steps are left"))
        }
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        let left = if BASE.get().abs_diff(stack_position()) > STACK {
            0
        } else {
            LEFT.get().saturating_sub(1)
        };
        LEFT.set(left);
        left > 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// 2019-09 and later: what stands beside a reference counts.
    Adjacent,
    /// Draft 7: it is ignored.
    Alone,
    /// Before draft 7: it is ignored, and there are no conditions.
    Unconditional,
}

impl Dialect {
    fn of(schema: &Value) -> Self {
        let name = schema.get("$schema").and_then(Value::as_str);
        let draft = name.and_then(|name| name.split('/').find(|part| part.starts_with("draft-0")));
        match draft {
            Some("draft-07") => Self::Alone,
            Some(_) => Self::Unconditional,
            None => Self::Adjacent,
        }
    }
}

struct Metering<'s> {
    dialect: Dialect,
    named: Option<&'s Value>,
    found: bool,
    mixed: bool,
}

impl Metering<'_> {
    fn schema(&mut self, schema: &mut Value, is_root: bool) {
        let Value::Object(map) = schema else { return };
        self.mixed |= !is_root && map.contains_key("$schema") && map.get("$schema") != self.named;
        for (keyword, value) in map.iter_mut() {
            match (keyword.as_str(), value) {
                // Data, which may look like a schema.
                ("enum" | "const" | "default" | "examples", _) => {}
                // The keys of these are names, whatever they look like.
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas" | "dependencies",
                    Value::Object(children),
                ) => {
                    for child in children.values_mut() {
                        self.schema(child, false);
                    }
                }
                (_, Value::Array(children)) => {
                    for child in children {
                        self.schema(child, false);
                    }
                }
                (_, child) => self.schema(child, false),
            }
        }
        let reference = REFERENCES
            .iter()
            .find(|keyword| map.get(**keyword).is_some_and(Value::is_string));
        if let Some(keyword) = reference {
            self.found = true;
            self.count(map, keyword, is_root);
        }
    }

    /// Makes following the reference of one object cost a step.
    fn count(&self, map: &mut Map<String, Value>, keyword: &str, is_root: bool) {
        let reference = map.remove(keyword);
        let counted = match self.dialect {
            // Only a condition keeps a reference from being followed when all errors are wanted.
            Dialect::Adjacent | Dialect::Alone => {
                vec![json!({"if": {KEYWORD: true}, "then": {keyword: reference}})]
            }
            Dialect::Unconditional => vec![json!({KEYWORD: true}), json!({keyword: reference})],
        };
        if self.dialect != Dialect::Adjacent {
            // What was ignored must not begin to count; what others refer to must stay.
            map.retain(|key, _| {
                let identifies = ["$id", "id"].contains(&key.as_str());
                ["$defs", "definitions", "$schema"].contains(&key.as_str()) || identifies && is_root
            });
        }
        let parts = map.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(parts) = parts {
            parts.extend(counted);
        }
    }
}

/// Objects, arrays and leaves.
fn parts(value: &Value) -> usize {
    let (mut parts, mut pending) = (0, vec![value]);
    while let Some(value) = pending.pop() {
        parts += 1;
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(map) => pending.extend(map.values()),
            _ => {}
        }
    }
    parts
}
