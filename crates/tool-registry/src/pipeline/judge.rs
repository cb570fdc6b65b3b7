//! Stage 11: the ceiling of the tool's author, then the types of its columns.

use tool_core::{ColumnMismatch, Content, EventKind, Outcome, Refusal, Stage, judge_columns};

use super::encode::Encoded;
use super::{Ended, Run};
use crate::{ColumnCheck, Entry};

/// Refuses a result that is larger than its author lets it be. The payload then reaches no channel.
///
/// Measured is what the tool gave: the text blocks where there are any, else the output, a text as it
/// is and anything else as compact JSON.
pub(super) fn judge(run: &Run<'_>, entry: &Entry, _encoded: &Encoded) -> Result<(), Ended> {
    run.stage(Stage::Judge);
    hold(entry, || chars(run))?;
    let check = run.services.column_check;
    if check != ColumnCheck::Off {
        let mismatches = mismatches(run, entry);
        if !mismatches.is_empty() {
            run.tell(|| EventKind::Columns(&mismatches));
            if check == ColumnCheck::Enforce {
                return Err(Outcome::Refused(Refusal::Columns { mismatches }).into());
            }
        }
    }
    Ok(())
}

/// Holds what a projection makes of a result to the same ceiling: the model reads nothing else.
pub(super) fn judge_projected(entry: &Entry, projected: &[Content]) -> Result<(), Ended> {
    hold(entry, || chars_of(projected))
}

fn hold(entry: &Entry, chars: impl FnOnce() -> usize) -> Result<(), Ended> {
    let declarations = entry.tool().declarations();
    let Some(ceiling) = declarations.ceiling else {
        return Ok(());
    };
    let chars = chars();
    if chars <= ceiling.get() {
        return Ok(());
    }
    Err(Outcome::Refused(Refusal::Ceiling {
        chars,
        max_chars: ceiling.get(),
        narrow_by: declarations.narrow_by.clone().unwrap_or_default(),
    })
    .into())
}

fn mismatches(run: &Run<'_>, entry: &Entry) -> Vec<ColumnMismatch> {
    let declared = &entry.tool().declarations().result_columns;
    let (Some(columns), Some(output)) = (declared, run.settlement.output()) else {
        return Vec::new();
    };
    judge_columns(columns, output).unwrap_or_default()
}

/// What the tool gave, in Unicode scalar values.
fn chars(run: &Run<'_>) -> usize {
    let content = &run.settlement.content;
    match &run.settlement.output {
        // Without blocks of the tool's own, also where it gives an empty list of them, it is shown;
        // but for a null, which is nothing to show.
        Some(output) if content.is_empty() && !output.is_null() => match output.as_text() {
            Some(text) => text.chars().count(),
            None => output.to_string().chars().count(),
        },
        _ => chars_of(content),
    }
}

fn chars_of(content: &[Content]) -> usize {
    let texts = content.iter().filter_map(Content::as_text);
    texts.map(|text| text.chars().count()).sum()
}
