//! Stage 10: the output codec, validated.

use serde_json::Value;
use tool_core::{Content, Defect, DefectKind, Outcome, Settlement, Stage};

use super::execute::Executed;
use super::{Ended, Run};
use crate::Entry;
use crate::contained::contained;
use crate::nesting::{TooDeep, dismantle, is_shallow, is_shallow_object};

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
    let encoded = match executed {
        Executed::Here(mut running) => contained(move || running.as_mut().encode()),
        Executed::Elsewhere(produced) => Some(Ok(*produced)),
    };
    let settlement = &mut run.settlement;
    let content = match encoded {
        Some(Ok(produced)) => {
            settlement.output = produced.output;
            settlement.meta = produced.meta;
            produced.content
        }
        Some(Err(cause)) => return defect(Defect::because(DefectKind::Output, cause)),
        None => return defect(Defect::new(DefectKind::Panic)),
    };
    if !is_held(settlement) {
        return defect(Defect::because(DefectKind::Output, TooDeep("output")));
    }
    let fits = match (&entry.output, &settlement.output) {
        (Some(schema), Some(output)) => schema.is_valid(output),
        (Some(_), None) => false,
        (None, _) => true,
    };
    if !fits {
        return defect(Defect::new(DefectKind::Output));
    }
    Ok(Encoded { content })
}

/// Whether output and data for programs are nested no deeper than they may be. What is not, is gone.
fn is_held(settlement: &mut Settlement) -> bool {
    let output = settlement.output.as_ref().is_none_or(is_shallow);
    let meta = settlement.meta.as_ref().is_none_or(is_shallow_object);
    if output && meta {
        return true;
    }
    if let Some(output) = settlement.output.take() {
        dismantle(output);
    }
    if let Some(meta) = settlement.meta.take() {
        dismantle(Value::Object(meta));
    }
    false
}

fn defect<T>(defect: Defect) -> Result<T, Ended> {
    Err(Outcome::Defect(defect).into())
}
