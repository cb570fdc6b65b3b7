//! Stage 13: long text is retained whole and shown in part.

use tool_core::{Bounding, Content, Defect, DefectKind, Outcome, Retention, Settlement, Stage};

use super::Run;
use super::project::Shown;
use crate::Entry;

/// Makes the settlement, with model-facing text within the bound.
///
/// Only text is measured; media, links and the structured channel pass unchanged, and so does
/// whether it is an error. When the whole cannot be retained, the call is a defect: nothing is
/// shown of a text that is kept nowhere.
pub(super) async fn bound(
    run: &mut Run<'_>,
    entry: &Entry,
    shown: Result<Shown, Outcome>,
) -> Settlement {
    run.stage(Stage::Bound);
    let mut settlement = match shown {
        Ok(shown) => {
            let mut settlement =
                Settlement::without_output(run.id.clone(), &run.name, Outcome::Completed);
            settlement.content = shown.content;
            settlement.output = shown.output;
            settlement.structured = shown.structured;
            settlement.meta = shown.meta;
            settlement
        }
        Err(Outcome::Failed(mut failure)) => {
            let (content, structured) = (failure.take_content(), failure.take_structured());
            let outcome = Outcome::Failed(failure);
            let mut settlement = Settlement::without_output(run.id.clone(), &run.name, outcome);
            settlement.content = content;
            settlement.structured = structured;
            settlement
        }
        Err(outcome) => return Settlement::without_output(run.id.clone(), &run.name, outcome),
    };

    let bound = match entry.tool().declarations().bounding {
        Bounding::Inherit => **run.services.bound.load(),
        Bounding::Within(bound) => bound,
        _ => return settlement,
    };
    let Some(outputs) = run
        .services
        .outputs
        .as_ref()
        .filter(|_| run.door.bounds_text())
    else {
        return settlement;
    };
    if !bound.is_exceeded_by(settlement.content.iter().filter_map(Content::as_text)) {
        return settlement;
    }
    let content = std::mem::take(&mut settlement.content);
    let retention = Retention::new(content, bound, run.facts, &run.name).call(run.id.as_ref());
    match outputs.bound(retention).await {
        Ok(bounded) => {
            run.unseen.keep(outputs, &bounded.retained);
            settlement.content = bounded.content;
            settlement.retained.push(bounded.retained);
            settlement
        }
        Err(cause) => {
            let defect = Defect::because(DefectKind::Retention, cause);
            Settlement::without_output(run.id.clone(), &run.name, Outcome::Defect(defect))
        }
    }
}
