//! From validated input and encoded output to what programs and models are shown.

use std::error::Error;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error as ThisError;

use crate::{Content, InvalidArguments};

pub(crate) type ModelProjection =
    Arc<dyn Fn(&Value, &Value) -> Result<Vec<Content>, ProjectionError> + Send + Sync>;
pub(crate) type StructuredProjection =
    Arc<dyn Fn(&Value) -> Result<Value, ProjectionError> + Send + Sync>;

/// A projection whose type does not read what the codec wrote.
///
/// A projection sees the encoded value only: what a codec leaves out, it cannot show. A typed
/// projection reads that value back, by the same codec, which fails when a type decodes something
/// else than it is encoded to.
#[derive(Debug, ThisError)]
#[error("{what} does not read back as the type of the projection")]
pub struct ProjectionError {
    what: &'static str,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

pub(crate) fn model<I, O, C>(
    input: impl Fn(&Value) -> Result<I, InvalidArguments> + Send + Sync + 'static,
    output: impl Fn(&Value) -> Result<O, InvalidArguments> + Send + Sync + 'static,
    project: impl Fn(I, O) -> C + Send + Sync + 'static,
) -> ModelProjection
where
    C: IntoIterator<Item = Content>,
{
    Arc::new(move |spoken, encoded| {
        let spoken = input(spoken).map_err(unread("input"))?;
        let encoded = output(encoded).map_err(unread("output"))?;
        Ok(project(spoken, encoded).into_iter().collect())
    })
}

pub(crate) fn structured<O, S: Serialize>(
    output: impl Fn(&Value) -> Result<O, InvalidArguments> + Send + Sync + 'static,
    project: impl Fn(O) -> S + Send + Sync + 'static,
) -> StructuredProjection {
    Arc::new(move |encoded| {
        let projected = project(output(encoded).map_err(unread("output"))?);
        serde_json::to_value(projected).map_err(|source| ProjectionError {
            what: "structured output",
            source: source.into(),
        })
    })
}

fn unread(what: &'static str) -> impl Fn(InvalidArguments) -> ProjectionError {
    move |source| ProjectionError {
        what,
        source: source.into(),
    }
}
