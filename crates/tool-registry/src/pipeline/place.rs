//! Ahead of stage 13: a long result is kept as an artifact, and a ticket is shown for it.

use serde_json::{Value, json};
use tool_core::{
    ArtifactDraft, ArtifactKind, ArtifactMeta, Artifacts, CallHost as _, Content, Outcome, Payload,
};

use super::Run;
use crate::Entry;

/// Places the result of a call that completed, where the host has set from how many characters on.
/// `false` when it is shown as it was, which includes that it could not be kept.
pub(super) async fn place(run: &mut Run<'_>, entry: &Entry) -> bool {
    let Some(most) = run
        .services
        .placement
        .filter(|_| run.host.keeps_artifacts())
    else {
        return false;
    };
    let completed = matches!(run.settlement.outcome, Outcome::Completed);
    if !completed || !run.door.bounds_text() {
        return false;
    }
    let Some(text) = only_text(&run.settlement.content) else {
        return false;
    };
    let chars = text.chars().count();
    let Some(kind) = kind(entry).filter(|_| chars > most.get()) else {
        return false;
    };
    let draft = ArtifactDraft::new(kind).label(format!("{} result", run.name()));
    let payload = displaced(text, run.settlement.output.as_ref());
    // As the handler itself would put it: stamped with the call, and told.
    let artifacts = Artifacts::of(Some(&**run.host), run.facts).put_by(Some(run.name()), run.id());
    // On the heap, as few results are placed.
    match Box::pin(artifacts.put(draft, payload)).await {
        Ok(kept) => {
            let ticket = ticket(&kept.meta, chars, most.get());
            run.settlement.content = vec![Content::text(ticket)];
            true
        }
        Err(error) => {
            tracing::warn!(%error, "could not place a result; it is bounded instead");
            false
        }
    }
}

/// The text of a result that is nothing else.
fn only_text(content: &[Content]) -> Option<String> {
    let texts: Option<Vec<&str>> = content.iter().map(Content::as_text).collect();
    texts.map(|texts| texts.join("\n"))
}

/// The text that was displaced, byte for byte; as JSON where it is that of the output.
fn displaced(text: String, output: Option<&Value>) -> Payload {
    match output {
        Some(output) if !output.is_string() && shown_as(output, &text) => {
            Payload::Json(output.clone())
        }
        _ => Payload::Text(text),
    }
}

/// Whether that is the JSON of a value.
fn shown_as(output: &Value, text: &str) -> bool {
    let json = output.to_string();
    json == text
}

fn kind(entry: &Entry) -> Option<ArtifactKind> {
    let declared = entry.tool().declarations().result_kind.clone();
    declared.or_else(|| ArtifactKind::new(&format!("tool-result/{}", entry.wire_name())))
}

fn ticket(meta: &ArtifactMeta, chars: usize, most: usize) -> String {
    let kind = meta.kind.as_str();
    json!({
        "placed": true,
        "ref": meta.reference.as_str(),
        "kind": kind,
        "mediaType": meta.media_type,
        "bytes": meta.bytes,
        "reason": format!(
            "The result has {chars} characters and at most {most} are shown, so it was kept whole. \
             Hand the reference to a tool that takes artifacts of the kind {kind}. Do not retype \
             or sum up what you have not read.",
        ),
    })
    .to_string()
}
