//! Tools that belong together.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error as ThisError;
use tool_core::{
    Call, CallError, Decoder, Encoder, Facts, InvalidArguments, Outcome, Serde, Settlement, Tool,
    TypedTool,
};

use crate::Snapshot;

/// Tools that belong together, under the names that they will be registered by.
///
/// ```
/// use tool_core::{Context, Tool};
/// use tool_registry::{Merge, Toolkit};
///
/// # fn main() -> Result<(), tool_registry::ToolkitError> {
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Pair { a: i64, b: i64 }
/// let add = Tool::new("Add", |pair: Pair, _cx: Context| async move { Ok(pair.a + pair.b) });
/// let sub = Tool::new("Subtract", |pair: Pair, _cx: Context| async move { Ok(pair.a - pair.b) });
/// let math = Toolkit::new().with("add", add)?;
/// let more = Toolkit::new().with("sub", sub)?;
/// let all = math.merge(more, &Merge::Reject)?;
/// assert_eq!(all.names().collect::<Vec<_>>(), ["add", "sub"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Toolkit {
    tools: Vec<(String, Tool)>,
}

/// What to do where two kits have a tool of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Merge {
    /// Refuse to merge.
    Reject,
    /// Keep the other kit's, in the place of the first.
    Right,
    /// Keep this kit's.
    Left,
    /// Put this, and `_`, before every name of the other kit.
    Prefix(String),
}

/// Kits that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("the kit has two tools named {}; rename one, or merge another way", names.join(", "))]
pub struct ToolkitError {
    names: Vec<String>,
}

/// Reads the settlements of one typed tool, and calls it by its types.
///
/// The output is read back from its encoded form, as anybody else gets it: the boundary of the
/// tool's codecs is crossed here too. So a call needs a codec of input that writes it as well, and
/// an output one that reads it as well.
pub struct Handle<I, O, D = Serde, E = Serde> {
    name: String,
    decoder: Arc<D>,
    encoder: Arc<E>,
    types: PhantomData<fn(I) -> O>,
}

/// A settlement that holds no output of the tool's type.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum HandleError {
    /// The input cannot be encoded.
    #[error("input could not be encoded")]
    Encode(#[source] Box<dyn Error + Send + Sync>),
    /// The call did not complete.
    #[error("the call did not complete")]
    Call(#[source] Box<CallError>),
    /// The call waits for a decision.
    #[error("the call waits for a decision")]
    Suspended,
    /// The output does not read back as the type.
    #[error("output does not read back as the tool's type")]
    Decode(#[source] InvalidArguments),
}

impl Toolkit {
    /// A kit without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`ToolkitError`] when the kit has one of that name.
    pub fn with(
        mut self,
        name: impl Into<String>,
        tool: impl Into<Tool>,
    ) -> Result<Self, ToolkitError> {
        let name = name.into();
        if self.tools.iter().any(|(other, _)| *other == name) {
            return Err(ToolkitError { names: vec![name] });
        }
        self.tools.push((name, tool.into()));
        Ok(self)
    }

    /// Adds a typed tool, and gives a handle that reads its settlements.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    #[expect(
        clippy::type_complexity,
        reason = "a name for it would hide that it is a pair"
    )]
    pub fn with_handle<I, O, D, E>(
        self,
        name: impl Into<String>,
        tool: TypedTool<I, O, D, E>,
    ) -> Result<(Self, Handle<I, O, D, E>), ToolkitError> {
        let name = name.into();
        let (decoder, encoder) = tool.codecs();
        let handle = Handle {
            name: name.clone(),
            decoder,
            encoder,
            types: PhantomData,
        };
        Ok((self.with(name, tool)?, handle))
    }

    /// Merges another kit into this one. The very same tool under the same name stands once,
    /// whatever the way of merging.
    ///
    /// # Errors
    /// [`ToolkitError`] with every name that stands twice and that the way of merging leaves
    /// standing.
    pub fn merge(mut self, other: Self, merge: &Merge) -> Result<Self, ToolkitError> {
        let mut clashes = Vec::new();
        for (name, tool) in other.tools {
            let name = match merge {
                Merge::Prefix(prefix) => format!("{prefix}_{name}"),
                _ => name,
            };
            let same = self.tools.iter_mut().find(|(other, _)| *other == name);
            match (same, merge) {
                (None, _) => self.tools.push((name, tool)),
                // One tool that two kits share is no clash.
                (Some((_, same)), _) if same.is_same(&tool) => {}
                (Some(_), Merge::Left) => {}
                (Some(same), Merge::Right) => same.1 = tool,
                (Some(_), _) => clashes.push(name),
            }
        }
        if clashes.is_empty() {
            Ok(self)
        } else {
            Err(ToolkitError { names: clashes })
        }
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(name, _)| name.as_str())
    }

    /// The tool of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, tool)| tool)
    }
}

impl IntoIterator for Toolkit {
    type Item = (String, Tool);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.tools.into_iter()
    }
}

impl<I, O, D: Encoder<I>, E: Decoder<O>> Handle<I, O, D, E> {
    /// Calls the tool through the whole pipeline, from its type and into its type. The name is
    /// the authored one, so the tool must be registered by the host itself and without a change.
    ///
    /// # Errors
    /// [`HandleError`] when the call does not complete.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call.
    pub async fn call(
        &self,
        snapshot: &Snapshot,
        input: &I,
        facts: &Facts,
    ) -> Result<O, HandleError> {
        let arguments = self.decoder.encode(input).map_err(HandleError::Encode)?;
        let settlement = snapshot
            .settle(Call::new(&self.name, arguments), facts)
            .await;
        self.output(&settlement)
    }
}

impl<I, O, D, E: Decoder<O>> Handle<I, O, D, E> {
    /// The output of a settlement, in the tool's own type.
    ///
    /// # Errors
    /// [`HandleError`] when the call did not complete or the output does not read back.
    pub fn output(&self, settlement: &Settlement) -> Result<O, HandleError> {
        if let Outcome::Suspended(_) = settlement.outcome {
            return Err(HandleError::Suspended);
        }
        if let Some(error) = CallError::of(settlement) {
            return Err(HandleError::Call(Box::new(error)));
        }
        let output = settlement.output().unwrap_or(&Value::Null);
        self.encoder.decode(output).map_err(HandleError::Decode)
    }
}

impl<I, O, D, E> fmt::Debug for Handle<I, O, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.name).finish()
    }
}
