//! Stage 10: the output codec, validated.

use std::error::Error;

use serde_json::Value;
use tool_core::{Defect, DefectKind, EventKind, Outcome, Produced, Settlement, Stage};

use super::execute::Executed;
use super::{Ended, Run};
use crate::Entry;
use crate::contained::contained;
use crate::nesting::{TooDeep, dismantle, is_flat, is_shallow_object};

/// The key of `meta` that says in which way output is not what its schema says.
const MISMATCH: &str = "tool-runtime/output_mismatch";

/// Why output has no JSON form.
type Cause = Box<dyn Error + Send + Sync>;

/// Output that its own schema accepts. It lies in the settlement, and so does what the tool itself
/// shows the model.
pub(super) struct Encoded;

/// Encodes and validates. Output that does not fit is never a success.
pub(super) fn encode(
    run: &mut Run<'_>,
    entry: &Entry,
    executed: Executed<'_>,
) -> Result<Encoded, Ended> {
    run.stage(Stage::Encode);
    let settlement = &mut *run.settlement;
    let encoded = contained(|| {
        let Executed(mut running) = executed;
        let mut encoded = running.as_mut().encode();
        match &mut encoded {
            Ok(produced) => {
                take(settlement, produced);
                Ok(())
            }
            Err(_) => encoded.map(|_| ()),
        }
    });
    match encoded {
        Some(Ok(())) => {}
        Some(Err::<_, Cause>(cause)) => {
            return defect(Defect::because(DefectKind::Output, cause));
        }
        None => return defect(Defect::new(DefectKind::Panic)),
    }
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
    Ok(Encoded)
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

/// Takes what was produced into the settlement, from where it lies.
fn take(settlement: &mut Settlement, produced: &mut Produced) {
    settlement.output = produced.output.take();
    settlement.meta = produced.meta.take();
    if let Some(content) = produced.content.take() {
        settlement.content = content;
    }
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
