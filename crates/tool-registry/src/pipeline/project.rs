//! Stage 12: what programs and the model are shown.

use serde_json::Value;
use tool_core::{Content, Defect, DefectKind, Outcome, Output, Plain, Spoken, Stage, Structured};

use super::encode::Encoded;
use super::{Ended, Run, judge};
use crate::Entry;
use crate::contained::contained;
use crate::nesting::{TooDeep, shallow};

/// A settlement that holds both channels, not yet bounded.
pub(super) struct Shown;

/// Projects validated input and encoded output into the settlement. Without a projection a text is
/// shown verbatim and anything else once, as compact JSON; a null is nothing to show. A tool that
/// gives an output and an empty list of blocks, as servers do, has said nothing of its own to show.
/// What is projected for the model is held to the ceiling of the result.
pub(super) fn project(
    run: &mut Run<'_>,
    entry: &Entry,
    input: &Spoken<'_>,
    _encoded: Encoded,
) -> Result<Shown, Ended> {
    run.stage(Stage::Project);
    let projects = entry.tool().has_projection();
    let output = projects.then(|| run.settlement.output()).flatten();
    let (structured, content) = match output {
        None => (None, None),
        Some(output) => match contained(|| project_both(entry, input, output)) {
            Some(Ok(projected)) => projected,
            Some(Err(defect)) => return Err(Outcome::Defect(defect).into()),
            None => return Err(Outcome::Defect(Defect::new(DefectKind::Panic)).into()),
        },
    };
    if let Some(content) = &content {
        judge::judge_projected(entry, content)?;
    }
    let settlement = &mut run.settlement;
    match (content, &settlement.output) {
        (Some(content), _) => settlement.content = content,
        (None, Some(output)) if settlement.content.is_empty() => {
            settlement.content = plain(output);
        }
        (None, _) => {}
    }
    settlement.structured = structured.map_or(Structured::Output, Structured::own);
    Ok(Shown)
}

/// Shows why a call that ran came to nothing.
pub(super) fn fail(run: &mut Run<'_>, entry: &Entry, outcome: Outcome) -> Shown {
    if let Outcome::Failed(mut failure) = outcome {
        let structured = failure.take_structured();
        let structured = match structured.map(|data| held(entry, data)).transpose() {
            Ok(structured) => structured,
            Err(defect) => {
                run.end(Outcome::Defect(defect));
                return Shown;
            }
        };
        run.settlement.content = failure.take_content();
        run.settlement.structured = structured.into();
        run.settlement.outcome = Outcome::Failed(failure);
    } else {
        run.end(outcome);
    }
    Shown
}

/// The data of a failure, where they are nested no deeper than they may be and fit what the tool
/// declares of them.
fn held(entry: &Entry, data: Value) -> Result<Value, Defect> {
    let Some(data) = shallow(data) else {
        let cause = TooDeep("data of the failure");
        return Err(Defect::because(DefectKind::Output, cause));
    };
    match &entry.failure {
        Some(schema) if !schema.is_valid(&data) && !entry.tool().declarations().advisory_output => {
            let cause = "the data of the failure do not fit the schema that the tool declares";
            Err(Defect::because(DefectKind::Output, cause))
        }
        _ => Ok(data),
    }
}

type Projected = (Option<Value>, Option<Vec<Content>>);

fn project_both(entry: &Entry, input: &Spoken<'_>, output: &Value) -> Result<Projected, Defect> {
    let failed = |error| Defect::because(DefectKind::Projection, error);
    let structured = entry
        .tool()
        .project_structured(output)
        .transpose()
        .map_err(failed)?
        .map(shallow);
    if let Some(None) = structured {
        let cause = TooDeep("structured projection");
        return Err(Defect::because(DefectKind::Projection, cause));
    }
    let structured = structured.flatten();
    if let (Some(schema), Some(structured)) = (&entry.structured, &structured)
        && !schema.is_valid(structured)
    {
        return Err(Defect::new(DefectKind::Projection));
    }
    let content = entry
        .tool()
        .project_model(input.value(), output)
        .transpose()
        .map_err(failed)?;
    Ok((structured, content))
}

fn plain(output: &Output) -> Vec<Content> {
    if output.is_null() {
        return Vec::new();
    }
    let text = match output.plain() {
        Some(Plain::Text(text)) => text.clone().into_owned(),
        Some(plain) => plain.to_json(),
        None => match output.value() {
            Value::String(text) => text.clone(),
            // Straight into a string: a formatter would take it in pieces.
            value => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
        },
    };
    vec![Content::text(text)]
}
