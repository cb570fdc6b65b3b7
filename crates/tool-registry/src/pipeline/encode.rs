//! Stage 10: the output codec, validated.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use tool_core::{Defect, DefectKind, Outcome, Produced, Stage};

use super::Run;
use super::execute::Executed;
use crate::Entry;

/// Output that its own schema accepts.
pub(super) struct Encoded {
    pub(super) spoken: Value,
    pub(super) produced: Produced,
}

/// Encodes and validates. Output that does not fit is never a success.
pub(super) fn encode(run: &Run<'_>, entry: &Entry, executed: Executed) -> Result<Encoded, Outcome> {
    run.stage(Stage::Encode);
    let Executed { spoken, finished } = executed;
    let produced = match catch_unwind(AssertUnwindSafe(|| finished.encode())) {
        Ok(Ok(produced)) => produced,
        Ok(Err(cause)) => {
            return Err(Outcome::Defect(Defect::because(DefectKind::Output, cause)));
        }
        Err(_) => return Err(Outcome::Defect(Defect::new(DefectKind::Panic))),
    };
    let fits = match (&entry.output, &produced.output) {
        (Some(schema), Some(output)) => schema.is_valid(output),
        (Some(_), None) => false,
        (None, _) => true,
    };
    if fits {
        Ok(Encoded { spoken, produced })
    } else {
        Err(Outcome::Defect(Defect::new(DefectKind::Output)))
    }
}
