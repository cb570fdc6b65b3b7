//! One entry of a `tools/list` result, as far as it can be read.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value};
use tool_core::{
    Annotations, Definition, Identity, Schema, SchemaError, Source, ToolName, WireName,
};

use super::site::Sites;
use crate::dialect::Dialect;

/// What the checks of one definition look at.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    /// Nothing where the entry is no object.
    pub(crate) entry: Option<&'a Map<String, Value>>,
    /// The schema of the arguments, where it is an object.
    pub(crate) schema: Option<&'a Value>,
    pub(crate) sites: Sites<'a>,
    /// Why the schema is not looked into.
    pub(crate) unbounded: Option<SchemaError>,
    /// What is the same for every profile, and takes time.
    patterns: OnceCell<Vec<(String, Engine)>>,
    invalid: RefCell<BTreeMap<Dialect, Rc<[Hit]>>>,
}

/// Which engines read a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Any,
    /// One that backtracks.
    Backtracking,
    None,
}

/// What a check found.
#[derive(Debug, Default)]
pub(crate) struct Hits(pub(crate) Vec<Hit>);

/// One thing that a check found.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    /// In the entry, as a JSON pointer.
    pub(crate) pointer: String,
    /// The keyword that is concerned, or nothing.
    pub(crate) keyword: String,
    pub(crate) message: String,
    /// What to do, where it is not what the rule says.
    pub(crate) fix: Option<String>,
}

impl<'a> Subject<'a> {
    pub(crate) fn of(entry: &'a Value) -> Self {
        let entry = entry.as_object();
        let schema = entry
            .and_then(|entry| entry.get("inputSchema"))
            .filter(|schema| schema.is_object());
        let bounds = schema.map(|schema| Schema::new(schema.clone()));
        let unbounded = bounds.and_then(Result::err);
        let walked = schema.filter(|_| unbounded.is_none());
        Self {
            entry,
            schema,
            sites: walked.map(Sites::of).unwrap_or_default(),
            unbounded,
            patterns: OnceCell::new(),
            invalid: RefCell::default(),
        }
    }

    /// The places of all patterns, and which engines read them.
    pub(crate) fn patterns(&self, find: fn(&Self) -> Vec<(String, Engine)>) -> &[(String, Engine)] {
        self.patterns.get_or_init(|| find(self))
    }

    /// What is wrong by the metaschema of a dialect.
    pub(crate) fn invalid(
        &self,
        dialect: Dialect,
        find: fn(&Value, Dialect) -> Vec<Hit>,
    ) -> Rc<[Hit]> {
        let Some(schema) = self.walked() else {
            return Rc::new([]);
        };
        let mut known = self.invalid.borrow_mut();
        let found = known
            .entry(dialect)
            .or_insert_with(|| find(schema, dialect).into());
        Rc::clone(found)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.entry?.get(key)?.as_str()
    }

    /// The name, where there is one.
    pub(crate) fn name(&self) -> Option<&'a str> {
        self.text("name").filter(|name| !name.is_empty())
    }

    /// The schema, where it is one that is looked into.
    pub(crate) fn walked(&self) -> Option<&'a Value> {
        self.schema.filter(|_| self.unbounded.is_none())
    }

    /// The dialect of the schema, where it is known.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        Dialect::of(self.schema?).ok()
    }

    /// The definition that a host makes of it; nothing where no host can.
    pub(crate) fn definition(&self) -> Option<Definition> {
        let name = self.name()?;
        let name = match WireName::parse(name) {
            Some(name) => name,
            None => {
                let name = ToolName::new(name).ok()?;
                WireName::of(&Identity::new(&Source::Host, name))
            }
        };
        let input = Schema::input(self.schema?.clone()).ok()?;
        let description = self.text("description").unwrap_or_default();
        let annotations = Annotations::default();
        Some(Definition::new(name, description, input, None, annotations))
    }
}

impl Hits {
    /// Something about the whole definition, or a part of it beside the schema.
    pub(crate) fn entry(&mut self, pointer: &str, message: impl Into<String>) {
        self.0.push(Hit {
            pointer: pointer.to_owned(),
            keyword: String::new(),
            message: message.into(),
            fix: None,
        });
    }

    /// Something at a place of the schema; `keyword` is the last token of the place, or nothing.
    pub(crate) fn schema(&mut self, place: &str, keyword: &str, message: impl Into<String>) {
        self.0.push(Hit {
            pointer: format!("/inputSchema{place}"),
            keyword: keyword.to_owned(),
            message: message.into(),
            fix: None,
        });
    }

    /// The fix for what was found last, where the one of the rule is too general.
    pub(crate) fn fix(&mut self, fix: impl Into<String>) {
        if let Some(last) = self.0.last_mut() {
            last.fix = Some(fix.into());
        }
    }
}
