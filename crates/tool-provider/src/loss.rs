//! What a projection gave up.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use crate::budget::Budget;
use crate::node::{Place, pointers};

/// One thing that a projected schema does not say as the original does.
///
/// The original stays the judge: arguments are validated against it, whatever was given up here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// Where in the original, as a JSON pointer.
    pub path: String,
    /// The keyword that is concerned.
    pub keyword: String,
    /// What became of it.
    pub effect: Effect,
    /// What that means, as one clause.
    pub note: String,
}

/// What became of a part of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// It is written in another way that means the same.
    Rewritten,
    /// A constraint is no longer in the schema.
    GivenUp,
    /// The original takes more than is offered: what it leaves open is taken to be as it is
    /// described.
    Narrowed,
}

/// What is compared with each other faster than looked up.
const FEW: usize = 32;

/// What the passes report while they work.
#[derive(Debug, Default)]
pub(crate) struct Report<'a> {
    noted: Vec<Noted<'a>>,
    /// The same, once they are many.
    known: HashSet<Noted<'a>>,
    /// Why the profile cannot express the schema at all.
    pub(crate) obstacle: Option<Noted<'a>>,
    /// Why no argument can ever fit.
    pub(crate) contradiction: Option<Noted<'a>>,
    /// What may still be made; whoever finds it used up gives something up.
    pub(crate) budget: Budget,
}

/// A loss that is not written out yet: many are noted for projections that nobody sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Noted<'a> {
    place: Place<'a>,
    keyword: &'a str,
    effect: Effect,
    note: &'static str,
}

impl<'a> Noted<'a> {
    pub(crate) fn given_up(place: Place<'a>, keyword: &'a str, note: &'static str) -> Self {
        Self {
            place,
            keyword,
            effect: Effect::GivenUp,
            note,
        }
    }

    /// Written out, for the schema that was given.
    pub(crate) fn loss(&self, schema: &Value) -> Loss {
        self.at(self.place.pointer(schema))
    }

    fn at(&self, path: String) -> Loss {
        Loss {
            path,
            keyword: self.keyword.to_owned(),
            effect: self.effect,
            note: self.note.to_owned(),
        }
    }
}

impl Loss {
    /// What concerns a tool as a whole.
    pub(crate) fn of_all(note: &str) -> Self {
        Self {
            path: String::new(),
            keyword: String::new(),
            effect: Effect::GivenUp,
            note: note.to_owned(),
        }
    }
}

impl<'a> Report<'a> {
    /// An empty one, of work that may make so much.
    pub(crate) fn within(budget: Budget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    pub(crate) fn add(
        &mut self,
        place: Place<'a>,
        keyword: &'a str,
        effect: Effect,
        note: &'static str,
    ) {
        let noted = Noted {
            effect,
            ..Noted::given_up(place, keyword, note)
        };
        let is_new = if self.noted.len() < FEW {
            !self.noted.contains(&noted)
        } else {
            if self.known.is_empty() {
                self.known.extend(&self.noted);
            }
            self.known.insert(noted)
        };
        if is_new {
            self.noted.push(noted);
        }
    }

    pub(crate) fn gave_up(&mut self, place: Place<'a>, keyword: &'a str, note: &'static str) {
        self.add(place, keyword, Effect::GivenUp, note);
    }

    pub(crate) fn blocked(&mut self, place: Place<'a>, keyword: &'a str, note: &'static str) {
        self.obstacle
            .get_or_insert_with(|| Noted::given_up(place, keyword, note));
    }

    pub(crate) fn contradicted(&mut self, place: Place<'a>, keyword: &'a str, note: &'static str) {
        self.contradiction
            .get_or_insert_with(|| Noted::given_up(place, keyword, note));
    }

    /// What was given up, written out for the schema that was given.
    pub(crate) fn losses(&self, schema: &Value) -> Vec<Loss> {
        let places: Vec<Place<'a>> = self.noted.iter().map(|noted| noted.place).collect();
        let noted = self.noted.iter().zip(pointers(schema, &places));
        noted.map(|(noted, path)| noted.at(path)).collect()
    }
}
