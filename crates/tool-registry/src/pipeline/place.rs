//! Ahead of stage 13: a long result is kept as an artifact, and a ticket is shown for it.

use serde_json::{Value, json};
use tool_core::{
    ArtifactDraft, ArtifactKind, ArtifactMeta, Artifacts, CallHost as _, Content, Digest, Outcome,
    Payload,
};

use super::Run;
use crate::Entry;
use crate::kept::tell_put;
use crate::placed::Placed;

/// A result that is long enough to be kept.
pub(super) struct Long {
    text: String,
    chars: usize,
    most: usize,
    kind: ArtifactKind,
}

/// The result of a call that completed, where the host has set from how many characters on it is
/// kept, and it has more.
pub(super) fn long(run: &Run<'_>, entry: &Entry) -> Option<Long> {
    let most = run.services.placement?;
    let completed = matches!(run.settlement.outcome, Outcome::Completed);
    if !run.host.keeps_artifacts() || !completed || !run.door.bounds_text() {
        return None;
    }
    let text = only_text(&run.settlement.content)?;
    let chars = text.chars().count();
    if chars <= most.get() {
        return None;
    }
    Some(Long {
        text,
        chars,
        most: most.get(),
        kind: kind(entry)?,
    })
}

/// Places it. `false` when it is shown as it was, as it could not be kept.
pub(super) async fn place(run: &mut Run<'_>, long: Long) -> bool {
    let Long {
        text,
        chars,
        most,
        kind,
    } = long;
    let Some(store) = run.services.artifacts.as_ref() else {
        return false;
    };
    let draft = ArtifactDraft::new(kind).label(format!("{} result", run.name()));
    // Of what stays in the settlement, whoever looks at it can tell by itself.
    let told = run.settlement.output.is_none() && !run.services.after.is_empty();
    let digest = told.then(|| Digest::of(text.as_bytes()));
    let payload = displaced(text, run.settlement.output());
    // As the handler itself would put it: stamped with the call, and told.
    let artifacts = Artifacts::of(Some(&**store), run.facts).put_by(Some(run.name()), run.id());
    let put = artifacts.put(draft, payload).await;
    tell_put("put", &put, |kind| run.host.tell(kind));
    match put {
        Ok(kept) => {
            let placed = Placed::new(store, run.facts, &kept.meta.reference);
            run.unseen.place(placed);
            let ticket = ticket(&kept.meta, chars, most);
            run.settlement.content = vec![Content::notice(ticket)];
            if let Some(digest) = digest {
                run.host.state().note_placed(digest);
            }
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
