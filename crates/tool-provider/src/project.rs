//! One tool for one provider.

use serde_json::Value;
use thiserror::Error;
use tool_core::{Definition, Schema};

use crate::Profile;
use crate::dialect::Dialect;
use crate::envelope::envelope;
use crate::inverse::Inverse;
use crate::loss::{Loss, Report};
use crate::node::{Document, Node, Slot, emit, parse};
use crate::pass::optional::note_null;
use crate::pass::{Effort, Work};
use crate::rules::{Envelope, Optional, Rules};

/// A tool as one provider is told of it.
#[derive(Clone, Debug)]
pub struct Projection {
    name: String,
    definition: Value,
    schema: Value,
    inverse: Inverse,
    losses: Vec<Loss>,
    strict: bool,
    fell_back: Option<Loss>,
    /// Properties that are optional, and places with alternatives; strict requests count them.
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// A tool that is kept out of requests, so that it does not fail the others.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("tool \"{tool}\" cannot be sent to {profile}: at \"{path}\", {reason}")]
#[non_exhaustive]
pub struct Quarantine {
    /// The wire name of the tool.
    pub tool: String,
    /// The profile that it was meant for.
    pub profile: Profile,
    /// Where in its input schema, as a JSON pointer.
    pub path: String,
    /// Why, as one clause.
    pub reason: String,
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
        if !wanted.is_strict() {
            return wanted.attempt(definition).map(|it| it.projection);
        }
        let attempt = wanted.attempt(definition)?;
        let most = wanted.rules().request;
        let too_many =
            attempt.projection.optional > most.optional || attempt.projection.unions > most.unions;
        let obstacle = attempt.obstacle.or_else(|| {
            let note = "it has more optional properties or alternatives than one request may";
            too_many.then(|| Loss::given_up(&"", "", note))
        });
        match obstacle {
            None => Ok(attempt.projection),
            Some(obstacle) => wanted.fall_back(definition, obstacle),
        }
    }

    /// The plain form of a tool that the strict profile cannot send.
    pub(crate) fn fall_back(
        self,
        definition: &Definition,
        because: Loss,
    ) -> Result<Projection, Quarantine> {
        let mut projection = self.plain().attempt(definition)?.projection;
        projection.fell_back = Some(because);
        Ok(projection)
    }

    fn attempt(self, definition: &Definition) -> Result<Attempt, Quarantine> {
        let rules = self.rules();
        let quarantine = |path: String, reason: String| Quarantine {
            tool: definition.name.as_str().to_owned(),
            profile: self,
            path,
            reason,
        };
        let given = definition.input.as_value();
        if rules.verbatim {
            if let Err(address) = Dialect::of(given) {
                return Err(quarantine(
                    String::new(),
                    format!(
                        "the schema is written in \"{address}\", which is no dialect that is known"
                    ),
                ));
            }
            return Ok(verbatim(definition));
        }
        let mut originals =
            parse(given).map_err(|fault| quarantine(fault.place.to_string(), fault.reason))?;
        if rules.optional != Optional::Free {
            note_null(&mut originals);
        }
        let given = serde_json::to_string(definition).unwrap_or_default();
        let most = 2 * given.len();
        let mut least = None;
        let mut obstacle = None;
        for effort in EFFORTS {
            let mut work = Work::new(rules, effort, &originals);
            let document = work.run();
            if let Some(loss) = work.report.contradiction.take() {
                return Err(quarantine(loss.path, loss.note));
            }
            if document.root.never {
                return Err(quarantine(
                    String::new(),
                    "no argument can ever fit".to_owned(),
                ));
            }
            let words = if effort.words {
                work.words.as_slice()
            } else {
                &[]
            };
            let attempt = finish(definition, rules, document, words, work.report);
            if attempt.obstacle.is_some() {
                if rules.strict {
                    return Ok(attempt);
                }
                obstacle = attempt.obstacle;
            } else if Schema::new(attempt.projection.schema.clone()).is_ok() {
                if attempt.projection.definition.to_string().len() <= most {
                    return Ok(attempt);
                }
                least = Some(attempt);
            }
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

struct Attempt {
    projection: Projection,
    /// Why the profile cannot express it. A plain profile gives no attempt that has one.
    obstacle: Option<Loss>,
}

impl Projection {
    /// The name on the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole definition, as the request carries it.
    #[must_use]
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// The schema of the arguments, as the request carries it. One profile leaves it out for a tool
    /// without arguments; it is then an object without properties.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
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

fn verbatim(definition: &Definition) -> Attempt {
    let schema = definition.input.as_value().clone();
    let projection = Projection {
        name: definition.name.as_str().to_owned(),
        definition: serde_json::to_value(definition).unwrap_or_default(),
        schema,
        inverse: Inverse::default(),
        losses: Vec::new(),
        strict: false,
        fell_back: None,
        optional: 0,
        unions: 0,
    };
    Attempt {
        projection,
        obstacle: None,
    }
}

fn finish(
    definition: &Definition,
    rules: &Rules,
    mut document: Document,
    words: &[String],
    report: Report,
) -> Attempt {
    let inverse = Inverse::of(&document);
    let nodes = || std::iter::once(&document.root).chain(document.defs.values());
    let optional = nodes().map(optional).sum();
    let unions = nodes().map(unions).sum();
    if rules.envelope == Envelope::Gemini {
        document.root.each(&mut |node| {
            if let Some(name) = node.text("type") {
                let name = name.to_ascii_uppercase();
                node.set("type", name);
            }
        });
    }
    if !document.defs.is_empty() {
        let defs = std::mem::take(&mut document.defs);
        document
            .root
            .keys
            .insert("$defs".to_owned(), Slot::Map(defs));
    }
    let schema = emit(&document.root);
    let mut description = definition.description.trim_end().to_owned();
    for words in words {
        if !description.is_empty() {
            description.push(' ');
        }
        description.push_str(words);
    }
    let envelope = envelope(definition, rules, &description, &schema);
    let projection = Projection {
        name: definition.name.as_str().to_owned(),
        definition: envelope,
        schema,
        inverse,
        losses: report.losses,
        strict: rules.strict,
        fell_back: None,
        optional,
        unions,
    };
    Attempt {
        projection,
        obstacle: report.obstacle,
    }
}

fn optional(node: &Node) -> usize {
    let own = node.map("properties").map_or(0, |properties| {
        let required = node.required();
        properties
            .keys()
            .filter(|name| !required.contains(*name))
            .count()
    });
    own + node.children().map(optional).sum::<usize>()
}

fn unions(node: &Node) -> usize {
    let listed = node.plain("type").is_some_and(Value::is_array);
    usize::from(listed || node.has("anyOf")) + node.children().map(unions).sum::<usize>()
}
