//! One way through a value, place by place.

use serde_json::{Map, Value};
use tool_core::{Issue, Repair, RepairRule, Repairs};

use super::encoded_value::{self, Decoded};
use super::facts::Facts;
use super::kinds::Kinds;
use super::null_optional;
use super::place::{Down, Place};
use super::whole_number;
use crate::plan::{Instance, Look};
use crate::pointer;
use crate::validator::Validator;

/// Places of one call that are put right. A call with more is refused as it came.
const MOST_REPAIRS: usize = 1_000;
/// Texts that could not be decoded and are named.
const MOST_FURTHER: usize = 3;

/// One way through a value, place by place, with the rules that hold on it.
pub(super) struct Walk<'s> {
    root: &'s Value,
    facts: Facts<'s>,
    decodes: bool,
    drops_null: bool,
    makes_integers: bool,
    path: String,
    walked: Walked,
}

/// What was done on the way.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) repairs: Vec<Repair>,
    /// What is wrong inside of texts that would have been decoded.
    pub(super) further: Vec<Issue>,
}

/// Whether a value holds anything that a rule below could change: a text, a null, or a number that
/// is held with a fraction. The value was read, and so is not deeper than that allows.
pub(super) fn finds_work<I: Instance>(instance: &I) -> bool {
    match instance.look() {
        Look::Null | Look::Text(_) => true,
        Look::Bool => false,
        Look::Number(number) => number.is_f64(),
        Look::Array(items) => items.iter().any(finds_work),
        Look::Object(object) => I::members(object).any(|(_, value)| finds_work(value)),
    }
}

impl<'s> Walk<'s> {
    /// Through a value that the schema takes: only how numbers are held may change.
    pub(super) fn of_valid(schema: &'s Validator, rules: Repairs) -> Self {
        let numbers = rules.contains(RepairRule::WholeNumber);
        let only = if numbers {
            Repairs::NONE.with(RepairRule::WholeNumber)
        } else {
            Repairs::NONE
        };
        Self::of_invalid(schema, only)
    }

    /// Through a value that the schema refuses.
    pub(super) fn of_invalid(schema: &'s Validator, rules: Repairs) -> Self {
        Self {
            root: schema.schema(),
            facts: Facts::of(schema),
            decodes: rules.contains(RepairRule::EncodedValue),
            drops_null: rules.contains(RepairRule::NullOptional),
            makes_integers: rules.contains(RepairRule::WholeNumber),
            path: String::new(),
            walked: Walked::default(),
        }
    }

    /// Puts right what the rules allow.
    pub(super) fn over(mut self, value: &mut Value) -> Walked {
        let root = Place::root(self.root);
        self.visit(value, &root, 0);
        if self.walked.repairs.len() > MOST_REPAIRS {
            self.walked.repairs.clear();
        }
        self.walked
    }

    fn visit(&mut self, value: &mut Value, place: &Place<'s>, depth: usize) {
        // Where anything goes, nothing is wrong.
        if place.is_anything() || self.walked.repairs.len() > MOST_REPAIRS {
            return;
        }
        match value {
            Value::Object(map) => self.object(map, place, depth),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let below = self.facts.below(place, Down::Index(index));
                    let length = self.path.len();
                    pointer::push_index(&mut self.path, index);
                    if !self.decode(item, &below, false, depth + 1) {
                        self.visit(item, &below, depth + 1);
                    }
                    self.path.truncate(length);
                }
            }
            Value::Number(number) if self.makes_integers => {
                if let Some(integer) = whole_number::integer(number, self.facts.kinds(place)) {
                    *number = integer;
                    self.did(RepairRule::WholeNumber);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, place: &Place<'s>, depth: usize) {
        let mut dropped = Vec::new();
        for (key, value) in map.iter_mut() {
            let below = self.facts.below(place, Down::Key(key));
            let length = self.path.len();
            pointer::push_key(&mut self.path, key);
            let nullish = self.drops_null && (value.is_null() || value.is_string());
            let drops_null =
                nullish && null_optional::stands_for_absence(&self.facts, place, key, &below);
            let decoded = self.decode(value, &below, drops_null, depth + 1);
            if value.is_null() && drops_null {
                dropped.push(key.clone());
                self.did(RepairRule::NullOptional);
            } else if !decoded {
                self.visit(value, &below, depth + 1);
            }
            self.path.truncate(length);
        }
        for key in &dropped {
            map.remove(key);
        }
    }

    /// Decodes a string where the place takes none, and says whether it did. What was decoded has
    /// been visited then, and the strings in it stay: nothing is decoded twice.
    fn decode(
        &mut self,
        value: &mut Value,
        place: &Place<'s>,
        drops_null: bool,
        depth: usize,
    ) -> bool {
        let Value::String(text) = value else {
            return false;
        };
        if !self.decodes {
            return false;
        }
        let taken = self.facts.kinds(place);
        if taken.has(Kinds::STRING) {
            return false;
        }
        match encoded_value::decode(text, taken, drops_null, depth) {
            Decoded::Value(read) => {
                *value = read.value;
                self.did(RepairRule::EncodedValue);
                self.decodes = false;
                self.visit(value, place, depth);
                self.decodes = true;
                return true;
            }
            Decoded::Nothing => {}
            Decoded::Broken(issue) => {
                if self.walked.further.len() < MOST_FURTHER {
                    self.walked.further.push(self.placed(issue));
                }
            }
        }
        false
    }

    fn did(&mut self, rule: RepairRule) {
        self.walked
            .repairs
            .push(Repair::new(self.path.clone(), rule));
    }

    /// An issue inside of a text, as one of the whole.
    fn placed(&self, issue: Issue) -> Issue {
        match issue {
            Issue::DuplicateKey { path, key } => Issue::DuplicateKey {
                path: format!("{}{path}", self.path),
                key,
            },
            Issue::Unrepresentable { path, what } => Issue::Unrepresentable {
                path: format!("{}{path}", self.path),
                what,
            },
            other => other,
        }
    }
}
