//! Stage 12: what programs and the model are shown.

use serde_json::{Map, Value};
use tool_core::{Content, Defect, DefectKind, Outcome, Stage};

use super::Run;
use super::encode::Encoded;
use crate::Entry;
use crate::contained::contained;

/// A result with both of its channels.
pub(super) struct Shown {
    pub(super) output: Option<Value>,
    pub(super) structured: Option<Value>,
    pub(super) content: Vec<Content>,
    pub(super) meta: Option<Map<String, Value>>,
}

/// Projects validated input and encoded output. Without a projection a text is shown verbatim and
/// anything else once, as compact JSON; a null is nothing to show. A tool that gives an output and
/// an empty list of blocks, as servers do, has said nothing of its own to show.
pub(super) fn project(run: &Run<'_>, entry: &Entry, encoded: Encoded) -> Result<Shown, Outcome> {
    run.stage(Stage::Project);
    let Encoded { spoken, produced } = encoded;
    let (structured, content) = match contained(|| project_both(entry, &spoken, &produced)) {
        Some(Ok(projected)) => projected,
        Some(Err(defect)) => return Err(Outcome::Defect(defect)),
        None => return Err(Outcome::Defect(Defect::new(DefectKind::Panic))),
    };
    let own = produced.content.filter(|content| !content.is_empty());
    let content = content.or(own).unwrap_or_else(|| {
        produced
            .output
            .as_ref()
            .and_then(plain)
            .into_iter()
            .collect()
    });
    let structured = match structured {
        Some(structured) => Some(structured),
        None => produced.output.clone(),
    };
    Ok(Shown {
        output: produced.output,
        structured,
        content,
        meta: produced.meta,
    })
}

type Projected = (Option<Value>, Option<Vec<Content>>);

fn project_both(
    entry: &Entry,
    spoken: &Value,
    produced: &tool_core::Produced,
) -> Result<Projected, Defect> {
    let Some(output) = &produced.output else {
        return Ok((None, None));
    };
    let failed = |error| Defect::because(DefectKind::Projection, error);
    let structured = entry
        .tool()
        .project_structured(output)
        .transpose()
        .map_err(failed)?;
    if let (Some(schema), Some(structured)) = (&entry.structured, &structured)
        && !schema.is_valid(structured)
    {
        return Err(Defect::new(DefectKind::Projection));
    }
    let content = entry
        .tool()
        .project_model(spoken, output)
        .transpose()
        .map_err(failed)?;
    Ok((structured, content))
}

fn plain(output: &Value) -> Option<Content> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(Content::text(text.clone())),
        other => Some(Content::text(other.to_string())),
    }
}
