//! Stage 10: the output codec, validated.

use serde_json::Value;
use tool_core::{Content, Defect, DefectKind, Outcome, Stage};

use super::execute::Executed;
use super::{Ended, Run};
use crate::Entry;
use crate::contained::contained;
use crate::nesting::{TooDeep, shallow};

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
        Executed::Elsewhere(produced) => Some(Ok(produced)),
    };
    let produced = match encoded {
        Some(Ok(produced)) => produced,
        Some(Err(cause)) => return defect(Defect::because(DefectKind::Output, cause)),
        None => return defect(Defect::new(DefectKind::Panic)),
    };
    let output = produced.output.map(shallow);
    let meta = produced.meta.map(|meta| shallow(Value::Object(meta)));
    if matches!((&output, &meta), (Some(None), _) | (_, Some(None))) {
        return defect(Defect::because(DefectKind::Output, TooDeep("output")));
    }
    let settlement = &mut run.settlement;
    settlement.output = output.flatten();
    settlement.meta = match meta.flatten() {
        Some(Value::Object(meta)) => Some(meta),
        _ => None,
    };
    let fits = match (&entry.output, &settlement.output) {
        (Some(schema), Some(output)) => schema.is_valid(output),
        (Some(_), None) => false,
        (None, _) => true,
    };
    if !fits {
        return defect(Defect::new(DefectKind::Output));
    }
    Ok(Encoded {
        content: produced.content,
    })
}

fn defect<T>(defect: Defect) -> Result<T, Ended> {
    Err(Outcome::Defect(defect).into())
}
