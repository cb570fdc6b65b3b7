//! From validated input and encoded output to what programs and models are shown.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::Content;

pub(crate) type ModelProjection =
    Arc<dyn Fn(&Value, &Value) -> Result<Vec<Content>, ProjectionError> + Send + Sync>;
pub(crate) type StructuredProjection =
    Arc<dyn Fn(&Value) -> Result<Value, ProjectionError> + Send + Sync>;

/// A projection whose type does not read what the codec wrote.
///
/// A projection sees the encoded value only: what a codec leaves out, it cannot show. A typed
/// projection reads that value back, which fails when a type deserializes something else than it
/// serializes to.
#[derive(Debug, Error)]
#[error("{what} does not read back as the type of the projection")]
pub struct ProjectionError {
    what: &'static str,
    #[source]
    source: serde_json::Error,
}

pub(crate) fn model<I, O, C>(project: impl Fn(I, O) -> C + Send + Sync + 'static) -> ModelProjection
where
    I: DeserializeOwned,
    O: DeserializeOwned,
    C: IntoIterator<Item = Content>,
{
    Arc::new(move |input, output| {
        let input = read(input, "input")?;
        let output = read(output, "output")?;
        Ok(project(input, output).into_iter().collect())
    })
}

pub(crate) fn structured<O, S>(
    project: impl Fn(O) -> S + Send + Sync + 'static,
) -> StructuredProjection
where
    O: DeserializeOwned,
    S: Serialize,
{
    Arc::new(move |output| {
        let projected = project(read(output, "output")?);
        serde_json::to_value(projected).map_err(|source| ProjectionError {
            what: "structured output",
            source,
        })
    })
}

fn read<T: DeserializeOwned>(value: &Value, what: &'static str) -> Result<T, ProjectionError> {
    T::deserialize(value).map_err(|source| ProjectionError { what, source })
}
