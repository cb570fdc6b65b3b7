//! One tool for one provider.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use serde_json::{Value, json};
use tool_core::{Definition, canonical_json};

use crate::Profile;
use crate::budget::Budget;
use crate::dialect::Dialect;
use crate::envelope::{Written, envelope};
use crate::inverse::Inverse;
use crate::loss::Loss;
use crate::node::{Document, parse};
use crate::pass::optional::note_null;
use crate::pass::{Effort, Work, first_open, referred};
use crate::quarantine::Quarantine;
use crate::rules::Optional;

/// A tool as one provider is told of it.
#[derive(Clone, Debug)]
pub struct Projection {
    name: String,
    /// The definition; the values are read from it for whoever asks.
    json: String,
    definition: OnceLock<Value>,
    /// Where in the definition the schema stands; nowhere for a tool that goes without.
    within: Option<Range<usize>>,
    schema: OnceLock<Value>,
    inverse: Inverse,
    losses: Vec<Loss>,
    strict: bool,
    fell_back: Option<Loss>,
    /// Properties that are optional, and places with alternatives; strict requests count them.
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// From much to little: what is tried until the result is small enough.
const EFFORTS: [Effort; 8] = [
    effort(1, 24, true),
    effort(0, 24, true),
    effort(0, 24, false),
    effort(0, 6, false),
    effort(0, 3, false),
    effort(0, 2, false),
    effort(0, 1, false),
    effort(0, 0, false),
];

const fn effort(unroll: usize, follow: usize, words: bool) -> Effort {
    Effort {
        unroll,
        follow,
        words,
    }
}

impl Profile {
    /// Projects a tool: its wire definition, the way back for arguments, and what was given up.
    ///
    /// A strict profile gives its plain form where strictness cannot express the tool, and says
    /// why. A definition that asks for strictness, or refuses it, is heard.
    ///
    /// # Errors
    /// [`Quarantine`] for a tool that no request should carry: its schema is in an unknown dialect,
    /// is no schema somewhere, refers to nothing or beyond itself, takes nothing, or is beyond the
    /// limits of the provider.
    ///
    /// ```
    /// use tool_core::{Annotations, Definition, Schema, WireName};
    /// use tool_provider::Profile;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::input(serde_json::json!({
    ///     "type": "object",
    ///     "properties": {"limit": {"type": "integer"}},
    ///     "additionalProperties": false,
    /// }))?;
    /// let name = WireName::parse("search").ok_or("a name")?;
    /// let tool = Definition::new(name, "Searches", schema, None, Annotations::default());
    ///
    /// let sent = Profile::OpenAiChatStrict.project(&tool)?;
    /// assert!(sent.is_strict());
    /// assert_eq!(sent.schema()["required"], serde_json::json!(["limit"]));
    ///
    /// let given = serde_json::json!({"limit": null});
    /// assert_eq!(sent.inverse().restore(given), serde_json::json!({}));
    /// # Ok(())
    /// # }
    /// ```
    pub fn project(self, definition: &Definition) -> Result<Projection, Quarantine> {
        let wanted = match definition.annotations.strict {
            Some(true) => self.strict(),
            Some(false) => self.plain(),
            None => self,
        };
        let mut given = None;
        if !wanted.rules().verbatim {
            let read = wanted.read(definition)?;
            // Most of what strictness cannot express shows before any pass.
            if wanted.is_strict()
                && wanted.rules().closed
                && let Some(obstacle) = first_open(&read.root)
            {
                let obstacle = obstacle.loss(definition.input.as_value());
                return wanted.fall_back_from(definition, Some(read), obstacle);
            }
            given = Some(read);
        }
        let made = match wanted.attempt(definition, given)? {
            Attempt::Made(projection) => projection,
            Attempt::Blocked(obstacle) => return wanted.fall_back(definition, obstacle),
        };
        let most = wanted.rules().request;
        if wanted.is_strict() && (made.optional > most.optional || made.unions > most.unions) {
            let note = "it has more optional properties or alternatives than one request may";
            return wanted.fall_back(definition, Loss::of_all(note));
        }
        Ok(made)
    }

    /// The plain form of a tool that the strict profile cannot send.
    pub(crate) fn fall_back(
        self,
        definition: &Definition,
        because: Loss,
    ) -> Result<Projection, Quarantine> {
        self.fall_back_from(definition, None, because)
    }

    fn fall_back_from<'a>(
        self,
        definition: &'a Definition,
        given: Option<Document<'a>>,
        because: Loss,
    ) -> Result<Projection, Quarantine> {
        let made = self.plain().attempt(definition, given);
        match made.map_err(|problem| problem.of(self))? {
            Attempt::Made(mut projection) => {
                projection.fell_back = Some(because);
                Ok(projection)
            }
            Attempt::Blocked(loss) => Err(self.quarantine(definition, loss.path, loss.note)),
        }
    }

    fn quarantine(self, definition: &Definition, path: String, reason: String) -> Quarantine {
        Quarantine {
            tool: definition.name.as_str().to_owned(),
            profile: self,
            path,
            reason,
        }
    }

    fn read(self, definition: &Definition) -> Result<Document<'_>, Quarantine> {
        let schema = definition.input.as_value();
        parse(schema)
            .map_err(|fault| self.quarantine(definition, fault.place.pointer(schema), fault.reason))
    }

    /// Projects a tool, whose schema may have been read already.
    fn attempt<'a>(
        self,
        definition: &'a Definition,
        mut given: Option<Document<'a>>,
    ) -> Result<Attempt, Quarantine> {
        let rules = self.rules();
        let schema = definition.input.as_value();
        let quarantine = |path, reason| self.quarantine(definition, path, reason);
        if rules.verbatim {
            if let Err(address) = Dialect::of(schema) {
                return Err(quarantine(
                    String::new(),
                    format!(
                        "the schema is written in \"{address}\", which is no dialect that is known"
                    ),
                ));
            }
            return Ok(Attempt::Made(verbatim(definition)));
        }
        let mut most = None;
        let mut least = None;
        let mut obstacle: Option<Loss> = None;
        let mut budget = Budget::default();
        for effort in EFFORTS {
            let mut given = given.take().map_or_else(|| self.read(definition), Ok)?;
            if rules.optional != Optional::Free {
                note_null(&mut given);
            }
            let originals = referred(&given, rules);
            let mut work = Work::new(rules, effort, &originals, budget);
            let document = work.run(given);
            budget = work.report.budget.next();
            if let Some(noted) = work.report.contradiction.take() {
                let loss = noted.loss(schema);
                return Err(quarantine(loss.path, loss.note));
            }
            if document.root.never {
                return Err(quarantine(
                    String::new(),
                    "no argument can ever fit".to_owned(),
                ));
            }
            if let Some(noted) = work.report.obstacle.take() {
                let loss = noted.loss(schema);
                if rules.strict {
                    return Ok(Attempt::Blocked(loss));
                }
                obstacle = Some(loss);
                continue;
            }
            let shortest = definition.name.as_str().len()
                + definition.description.len()
                + document.survey.bytes;
            let (projection, is_bounded) = finish(definition, document, &work);
            if !is_bounded {
                continue;
            }
            let length = projection.json.len();
            // Counting what was given exactly takes longer than most need.
            let is_small = length <= 2 * shortest
                || length <= 2 * *most.get_or_insert_with(|| exactly(definition));
            if is_small {
                return Ok(Attempt::Made(projection));
            }
            least = Some(Attempt::Made(projection));
        }
        // It is larger than it should be in every way there is.
        least.ok_or_else(|| match obstacle {
            Some(loss) => quarantine(loss.path, loss.note),
            None => quarantine(
                String::new(),
                "the schema is too large or too deep once it is written out".to_owned(),
            ),
        })
    }
}

/// What came of a profile and a tool.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and most are the larger one"
)]
enum Attempt {
    Made(Projection),
    /// Why the profile cannot express it; of strict profiles alone.
    Blocked(Loss),
}

/// Bytes of a definition as JSON.
fn exactly(definition: &Definition) -> usize {
    serde_json::to_string(definition).map_or(0, |text| text.len())
}

impl Projection {
    /// The name on the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole definition, as the request carries it. It is read from its text when it is first
    /// asked for.
    #[must_use]
    pub fn definition(&self) -> &Value {
        self.definition.get_or_init(|| read(&self.json))
    }

    /// The text of the definition: the keys of every object are sorted, so that it is always the
    /// same.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// The schema of the arguments, as the request carries it. One profile leaves it out for a tool
    /// without arguments; it is then an object without properties. It is read from its text when it
    /// is first asked for.
    #[must_use]
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| {
            let text = self.within.clone().and_then(|at| self.json.get(at));
            text.map_or_else(|| json!({"type": "OBJECT"}), read)
        })
    }

    /// The way back for arguments.
    #[must_use]
    pub fn inverse(&self) -> &Inverse {
        &self.inverse
    }

    /// What the wire schema does not say as the original does.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Whether the provider holds the model to the schema.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Why strictness was wanted and cannot be had.
    #[must_use]
    pub fn fell_back(&self) -> Option<&Loss> {
        self.fell_back.as_ref()
    }
}

/// The value of a text that was written here.
fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

fn verbatim(definition: &Definition) -> Projection {
    let value = serde_json::to_value(definition).unwrap_or_default();
    Projection {
        name: definition.name.as_str().to_owned(),
        json: canonical_json(&value),
        definition: value.into(),
        within: None,
        schema: definition.input.as_value().clone().into(),
        inverse: Inverse::default(),
        losses: Vec::new(),
        strict: false,
        fell_back: None,
        optional: 0,
        unions: 0,
    }
}

/// Writes a projection. Whether its schema is within the bounds of one is the second value.
fn finish(definition: &Definition, document: Document<'_>, work: &Work<'_>) -> (Projection, bool) {
    let rules = work.rules;
    let mut description = Cow::Borrowed(definition.description.trim_end());
    for words in work.words.iter().filter(|_| work.effort.words) {
        let description = description.to_mut();
        if !description.is_empty() {
            description.push(' ');
        }
        description.push_str(words);
    }
    let Written {
        json,
        schema,
        is_bounded,
    } = envelope(definition, rules, &description, &document);
    let projection = Projection {
        name: definition.name.as_str().to_owned(),
        json,
        definition: OnceLock::new(),
        within: schema,
        schema: OnceLock::new(),
        inverse: Inverse::of(document),
        losses: work.report.losses(definition.input.as_value()),
        strict: rules.strict,
        fell_back: None,
        optional: work.counted.optional,
        unions: work.counted.unions,
    };
    (projection, is_bounded)
}
