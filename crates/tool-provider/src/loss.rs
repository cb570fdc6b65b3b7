//! What a projection gave up.

use serde::Serialize;

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
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) losses: Vec<Loss>,
    /// Why the profile cannot express the schema at all.
    pub(crate) obstacle: Option<Loss>,
    /// Why no argument can ever fit.
    pub(crate) contradiction: Option<Loss>,
}

impl Loss {
    fn new(place: &impl ToString, keyword: &str, effect: Effect, note: &str) -> Self {
        Self {
            path: place.to_string(),
            keyword: keyword.to_owned(),
            effect,
            note: note.to_owned(),
        }
    }

    pub(crate) fn given_up(place: &impl ToString, keyword: &str, note: &str) -> Self {
        Self::new(place, keyword, Effect::GivenUp, note)
    }
}

impl Report {
    pub(crate) fn add(&mut self, place: &impl ToString, keyword: &str, effect: Effect, note: &str) {
        let loss = Loss::new(place, keyword, effect, note);
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    pub(crate) fn gave_up(&mut self, place: &impl ToString, keyword: &str, note: &str) {
        self.add(place, keyword, Effect::GivenUp, note);
    }

    pub(crate) fn blocked(&mut self, place: &impl ToString, keyword: &str, note: &str) {
        self.obstacle
            .get_or_insert_with(|| Loss::given_up(place, keyword, note));
    }

    pub(crate) fn contradicted(&mut self, place: &impl ToString, keyword: &str, note: &str) {
        self.contradiction
            .get_or_insert_with(|| Loss::given_up(place, keyword, note));
    }
}
