//! Stage 10: the output codec, validated.

use std::error::Error;

use serde_json::Value;
use tool_core::{
    Content, Defect, DefectKind, EventKind, Outcome, Output, Produced, Settlement, Stage,
};

use super::execute::Executed;
use super::{Ended, Run};
use crate::Entry;
use crate::contained::contained;
use crate::nesting::{TooDeep, dismantle, is_shallow, is_shallow_object};

/// The key of `meta` that says in which way output is not what its schema says.
const MISMATCH: &str = "tool-runtime/output_mismatch";

/// Why output has no JSON form.
type Cause = Box<dyn Error + Send + Sync>;

/// Output that its own schema accepts. It lies in the settlement already.
pub(super) struct Encoded {
    /// What the tool itself shows the model.
    pub(super) content: Option<Vec<Content>>,
}

/// Encodes and validates. Output that does not fit is never a success.
pub(super) fn encode(
    run: &mut Run<'_>,
    entry: &Entry,
    executed: Executed<'_>,
) -> Result<Encoded, Ended> {
    run.stage(Stage::Encode);
    let settlement = &mut run.settlement;
    let encoded = match executed {
        Executed::Here(mut running) => {
            contained(move || Ok(taken(settlement, running.as_mut().encode()?)))
        }
        Executed::Elsewhere(produced) => Some(Ok(taken(settlement, *produced))),
    };
    let content = match encoded {
        Some(Ok(content)) => content,
        Some(Err::<_, Cause>(cause)) => {
            return defect(Defect::because(DefectKind::Output, cause));
        }
        None => return defect(Defect::new(DefectKind::Panic)),
    };
    let settlement = &mut run.settlement;
    if !is_held(settlement) {
        return defect(Defect::because(DefectKind::Output, TooDeep("output")));
    }
    let fits = match (&entry.output, &settlement.output) {
        (Some(schema), Some(output)) => schema.takes(output),
        (Some(_), None) => false,
        (None, _) => true,
    };
    if !fits {
        if !entry.tool().declarations().advisory_output {
            return defect(Defect::new(DefectKind::Output));
        }
        warn(run, entry);
    }
    Ok(Encoded { content })
}

/// Whether output and data for programs are nested no deeper than they may be. What is not, is gone.
fn is_held(settlement: &mut Settlement) -> bool {
    let output = settlement.output.as_ref().is_none_or(is_flat);
    let meta = settlement.meta.as_deref().is_none_or(is_shallow_object);
    if output && meta {
        return true;
    }
    if let Some(output) = settlement.output.take() {
        dismantle(output.into_value());
    }
    if let Some(meta) = settlement.meta.take() {
        dismantle(Value::Object(*meta));
    }
    false
}

/// Takes what was produced into the settlement, but for what the tool itself shows the model.
fn taken(settlement: &mut Settlement, produced: Produced) -> Option<Vec<Content>> {
    settlement.output = produced.output;
    settlement.meta = produced.meta;
    produced.content
}

/// What is no value yet is of the simple sort, which is never deep.
fn is_flat(output: &Output) -> bool {
    output.plain().is_some() || is_shallow(output.value())
}

/// Says of output that its schema does not accept, in the settlement and to whoever listens.
fn warn(run: &mut Run<'_>, entry: &Entry) {
    let why = match (&entry.output, &run.settlement.output) {
        (Some(schema), Some(output)) => Some(schema.why_not_result(output.value())),
        _ => None,
    };
    let issues = why.as_ref().map_or(&[][..], |why| why.issues());
    let mut texts: Vec<Value> = issues
        .iter()
        .map(|issue| issue.to_string().into())
        .collect();
    if texts.is_empty() {
        texts.push("there is no structured output, or none that its schema accepts".into());
    }
    let meta = run.settlement.meta.get_or_insert_default();
    meta.insert(MISMATCH.to_owned(), texts.into());
    tracing::warn!(tool = %entry.wire_name(), "output is not what its schema says");
    run.tell(|| EventKind::OutputMismatch(issues));
}

fn defect<T>(defect: Defect) -> Result<T, Ended> {
    Err(Outcome::Defect(defect).into())
}
