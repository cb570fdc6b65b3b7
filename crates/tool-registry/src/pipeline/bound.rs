//! Stage 13: long text is retained whole and shown in part.

use tool_core::{
    Bound, Bounding, CallHost as _, Content, Declarations, Defect, DefectKind, Outcome, Refusal,
    Retention, Stage,
};

use super::project::Shown;
use super::{Run, place, repeated_media};
use crate::Entry;

/// Bounds the model-facing text of the settlement.
///
/// Only text is measured; media, links and the structured channel pass unchanged, but for media
/// that the result repeats as base64, and so does whether it is an error. When the whole cannot be retained, the call is a defect: nothing is
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
    name_streamed(run);
    repeated_media::refer(run, entry);
    if place::place(run, entry).await {
        return;
    }
    if let Kept::Whole = keep_within(run, entry).await
        && let Some(loss) = run.host.state().loss()
    {
        let note = format!("[The tool itself left out {loss}; nobody keeps them.]");
        run.settlement.content.push(Content::text(note));
    }
}

/// Names what the handler itself has handed to the store while it made it.
fn name_streamed(run: &mut Run<'_>) {
    let streamed = run.host.state().take_retained();
    if let Some(outputs) = run.services.outputs.as_ref() {
        for retained in &streamed {
            run.unseen.keep(outputs, retained);
        }
    }
    run.settlement.retained.extend(streamed);
}

/// What became of the text.
enum Kept {
    /// It is shown as it is.
    Whole,
    /// It is shown in part, or not at all.
    Cut,
}

/// Does with a text that is over its bound what its tool says.
async fn keep_within(run: &mut Run<'_>, entry: &Entry) -> Kept {
    let outputs = run.services.outputs.as_ref();
    let Some(outputs) = outputs.filter(|_| run.door.bounds_text()) else {
        return Kept::Whole;
    };
    let declarations = entry.tool().declarations();
    let bound = match declarations.bounding {
        Bounding::Inherit => run.services.bound(),
        Bounding::Within(bound) | Bounding::Truncate(bound) | Bounding::Refuse(bound) => bound,
        _ => return Kept::Whole,
    };
    let texts = run.settlement.content.iter().filter_map(Content::as_text);
    if !bound.is_exceeded_by(texts) {
        return Kept::Whole;
    }
    if let Bounding::Refuse(_) = declarations.bounding {
        let refusal = too_long(&run.settlement.content, bound, declarations);
        run.end(Outcome::Refused(refusal));
        return Kept::Cut;
    }
    let content = std::mem::take(&mut run.settlement.content);
    let retention = Retention::new(content, bound, run.facts, run.name())
        .call(run.id())
        .loss(run.host.state().loss());
    if let Bounding::Truncate(_) = declarations.bounding {
        run.settlement.content = outputs.truncate(retention);
        return Kept::Cut;
    }
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
    Kept::Cut
}

fn too_long(content: &[Content], bound: Bound, declarations: &Declarations) -> Refusal {
    let texts = || content.iter().filter_map(Content::as_text);
    Refusal::TooLong {
        bytes: texts().map(str::len).sum(),
        lines: texts().map(|text| text.lines().count()).sum(),
        bound,
        narrow_by: declarations.narrow_by.clone().unwrap_or_default(),
    }
}
