//! Stage 10: the output codec, validated.

use tool_core::{Defect, DefectKind, Outcome, Produced, Stage};

use super::Run;
use super::execute::Executed;
use crate::Entry;
use crate::contained::contained;
use crate::nesting::{MAX_DEPTH, dismantle, is_shallow};

/// Output that its own schema accepts.
pub(super) struct Encoded(pub(super) Produced);

/// Encodes and validates. Output that does not fit is never a success.
pub(super) fn encode(run: &Run<'_>, entry: &Entry, executed: Executed) -> Result<Encoded, Outcome> {
    run.stage(Stage::Encode);
    let Executed(finished) = executed;
    let mut produced = match contained(|| finished.encode()) {
        Some(Ok(produced)) => produced,
        Some(Err(cause)) => {
            return Err(Outcome::Defect(Defect::because(DefectKind::Output, cause)));
        }
        None => return Err(Outcome::Defect(Defect::new(DefectKind::Panic))),
    };
    let deep = produced.output.take_if(|output| !is_shallow(output));
    if let Some(output) = deep {
        dismantle(output);
        let cause = format!("output is nested deeper than {MAX_DEPTH} levels");
        return Err(Outcome::Defect(Defect::because(DefectKind::Output, cause)));
    }
    let fits = match (&entry.output, &produced.output) {
        (Some(schema), Some(output)) => schema.is_valid(output),
        (Some(_), None) => false,
        (None, _) => true,
    };
    if fits {
        Ok(Encoded(produced))
    } else {
        Err(Outcome::Defect(Defect::new(DefectKind::Output)))
    }
}
