//! Stage 13: long text is retained whole and shown in part.

use std::sync::Arc;

use tool_core::{
    Bound, Bounding, CallHost as _, Content, Declarations, Defect, DefectKind, Digest, Loss,
    Outcome, OutputStore, Refusal, Retention, Stage,
};

use super::passage::Passage;
use super::project::Shown;
use super::{Run, place, repeated_media};
use crate::Entry;

/// Bounds the model-facing text of the settlement.
///
/// Only text is measured; media, links and the structured channel pass unchanged, but for media
/// that the result repeats as base64, and so does whether it is an error. When the whole cannot be
/// retained, the call is a defect: nothing is shown of a text that is kept nowhere.
pub(super) fn bound<'a>(run: &'a mut Run<'_>, entry: &'a Entry, _shown: Shown) -> Passage<'a, ()> {
    run.stage(Stage::Bound);
    // What the runtime itself says of a call is short.
    if !matches!(
        run.settlement.outcome,
        Outcome::Completed | Outcome::Failed(_)
    ) {
        return Passage::At(());
    }
    name_streamed(run);
    repeated_media::refer(run, entry);
    if run.services.placement.is_some()
        && let Some(long) = place::long(run, entry)
    {
        return Passage::after(move || async move {
            if !place::place(run, long).await {
                keep(run, entry).await;
            }
        });
    }
    match exceeded(run, entry) {
        None => {
            tell_of_loss(run);
            Passage::At(())
        }
        Some(_) => Passage::after(move || keep(run, entry)),
    }
}

/// Keeps the text within its bound, and tells what the tool itself left out of one that is short.
async fn keep(run: &mut Run<'_>, entry: &Entry) {
    match exceeded(run, entry) {
        None => tell_of_loss(run),
        Some((outputs, bound)) => cut(run, entry, outputs, bound).await,
    }
}

#[inline]
fn tell_of_loss(run: &mut Run<'_>) {
    if let Some(loss) = run.host.state().loss() {
        run.settlement.content.push(lost(loss));
    }
}

#[cold]
fn lost(loss: &Loss) -> Content {
    Content::notice(format!(
        "[The tool itself left out {loss}; nobody keeps them.]"
    ))
}

/// The bound that the text is over, with who keeps what is over it. Without anybody there is none.
fn exceeded<'a>(run: &Run<'a>, entry: &Entry) -> Option<(&'a Arc<dyn OutputStore>, Bound)> {
    let outputs = run.services.outputs.as_ref();
    let outputs = outputs.filter(|_| run.door.bounds_text())?;
    let bound = match entry.tool().declarations().bounding {
        Bounding::Inherit => run.services.bound(),
        Bounding::Within(bound) | Bounding::Truncate(bound) | Bounding::Refuse(bound) => bound,
        _ => return None,
    };
    let texts = run.settlement.content.iter().filter_map(Content::as_text);
    bound.is_exceeded_by(texts).then_some((outputs, bound))
}

/// Names what the handler itself has handed to the store while it made it.
fn name_streamed(run: &mut Run<'_>) {
    let streamed = run.host.state().take_retained();
    if streamed.is_empty() {
        return;
    }
    if let Some(outputs) = run.services.outputs.as_ref() {
        for retained in &streamed {
            run.unseen.keep(outputs, retained);
        }
    }
    run.settlement.retained.extend(streamed);
}

/// Does with a text that is over its bound what its tool says.
async fn cut(run: &mut Run<'_>, entry: &Entry, outputs: &Arc<dyn OutputStore>, bound: Bound) {
    let declarations = entry.tool().declarations();
    if let Bounding::Refuse(_) = declarations.bounding {
        let refusal = too_long(&run.settlement.content, bound, declarations);
        run.end(Outcome::Refused(refusal));
        return;
    }
    if let Bounding::Truncate(_) = declarations.bounding {
        note_truncated(run);
    }
    let content = std::mem::take(&mut run.settlement.content);
    let retention = Retention::new(content, bound, run.facts, run.name())
        .call(run.id())
        .loss(run.host.state().loss());
    if let Bounding::Truncate(_) = declarations.bounding {
        run.settlement.content = outputs.truncate(retention);
        return;
    }
    match outputs.bound(retention).await {
        Ok(bounded) => {
            run.unseen.keep(outputs, &bounded.retained);
            run.settlement.content = bounded.content;
            run.settlement.retained.push(bounded.retained);
        }
        Err(cause) => {
            let defect = Defect::because(DefectKind::Retention, cause);
            // What was streamed before is in the store all the same.
            let streamed = std::mem::take(&mut run.settlement.retained);
            run.end(Outcome::Defect(defect));
            run.settlement.retained = streamed;
        }
    }
}

/// Lets hooks tell a text by more than what is shown of it, as nobody keeps its digest.
fn note_truncated(run: &Run<'_>) {
    if run.settlement.output.is_some() || run.services.after.is_empty() {
        return;
    }
    let texts = run.settlement.content.iter().filter_map(Content::as_text);
    let texts: Vec<&str> = texts.collect();
    run.host.state().note_placed(Digest::of_parts(&texts));
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
