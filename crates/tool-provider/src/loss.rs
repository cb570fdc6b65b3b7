//! What a projection gave up.

use serde::Serialize;

use crate::node::{Key, Place, key_of};

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

/// What the passes report while they work.
#[derive(Debug, Default)]
pub(crate) struct Report {
    noted: Vec<Noted>,
    /// Why the profile cannot express the schema at all.
    pub(crate) obstacle: Option<Loss>,
    /// Why no argument can ever fit.
    pub(crate) contradiction: Option<Loss>,
}

/// A loss that is not written out yet: many are noted for projections that nobody sees.
#[derive(Debug, PartialEq)]
struct Noted {
    place: Place,
    keyword: Key,
    effect: Effect,
    note: &'static str,
}

impl Loss {
    pub(crate) fn given_up(place: &impl ToString, keyword: &str, note: &str) -> Self {
        Self {
            path: place.to_string(),
            keyword: keyword.to_owned(),
            effect: Effect::GivenUp,
            note: note.to_owned(),
        }
    }
}

impl Report {
    pub(crate) fn add(&mut self, place: &Place, keyword: &str, effect: Effect, note: &'static str) {
        let noted = Noted {
            place: place.clone(),
            keyword: key_of(keyword),
            effect,
            note,
        };
        if !self.noted.contains(&noted) {
            self.noted.push(noted);
        }
    }

    pub(crate) fn gave_up(&mut self, place: &Place, keyword: &str, note: &'static str) {
        self.add(place, keyword, Effect::GivenUp, note);
    }

    pub(crate) fn blocked(&mut self, place: &Place, keyword: &str, note: &str) {
        self.obstacle
            .get_or_insert_with(|| Loss::given_up(place, keyword, note));
    }

    pub(crate) fn contradicted(&mut self, place: &Place, keyword: &str, note: &str) {
        self.contradiction
            .get_or_insert_with(|| Loss::given_up(place, keyword, note));
    }

    /// What was given up, written out.
    pub(crate) fn losses(self) -> Vec<Loss> {
        let losses = self.noted.into_iter().map(|noted| Loss {
            path: noted.place.to_string(),
            keyword: noted.keyword.into_owned(),
            effect: noted.effect,
            note: noted.note.to_owned(),
        });
        losses.collect()
    }
}
