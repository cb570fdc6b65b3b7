//! Stage 13: long text is retained whole and shown in part.

use tool_core::{Bounding, Content, Defect, DefectKind, Outcome, Retention, Stage};

use super::Run;
use super::project::Shown;
use crate::Entry;

/// Bounds the model-facing text of the settlement.
///
/// Only text is measured; media, links and the structured channel pass unchanged, and so does
/// whether it is an error. When the whole cannot be retained, the call is a defect: nothing is
/// shown of a text that is kept nowhere.
pub(super) async fn bound(run: &mut Run<'_>, entry: &Entry, _shown: Shown) {
    run.stage(Stage::Bound);
    // What the runtime itself says of a call is short.
    if !matches!(
        run.settlement.outcome,
        Outcome::Completed | Outcome::Failed(_)
    ) {
        return;
    }
    let outputs = run.services.outputs.as_ref();
    let Some(outputs) = outputs.filter(|_| run.door.bounds_text()) else {
        return;
    };
    let bound = match entry.tool().declarations().bounding {
        Bounding::Inherit => run.services.bound(),
        Bounding::Within(bound) => bound,
        _ => return,
    };
    let texts = run.settlement.content.iter().filter_map(Content::as_text);
    if !bound.is_exceeded_by(texts) {
        return;
    }
    let content = std::mem::take(&mut run.settlement.content);
    let retention = Retention::new(content, bound, run.facts, run.name()).call(run.id());
    match outputs.bound(retention).await {
        Ok(bounded) => {
            run.unseen.keep(outputs, &bounded.retained);
            run.settlement.content = bounded.content;
            run.settlement.retained.push(bounded.retained);
        }
        Err(cause) => {
            let defect = Defect::because(DefectKind::Retention, cause);
            run.end(Outcome::Defect(defect));
        }
    }
}
