//! The tool that reads a retained output back.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::{
    Bounding, Content, HandlerError, OutputStore, PageRequest, Permission, StoreErrorKind, Tool,
    ToolFailure,
};

use crate::hints;

const MAX_BYTES: u64 = PageRequest::DEFAULT_BYTES as u64;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The id of the output, from the note in a result that was too long to show.
    id: String,
    /// The first byte to read, from 0. Defaults to 0.
    offset: Option<u64>,
    /// The most bytes to read. Defaults to 51200, which is also the most.
    #[schemars(range(min = 1, max = MAX_BYTES))]
    max_bytes: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    report: Report,
    /// The text of the page.
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Report {
    /// Where the page begins, in bytes.
    offset: u64,
    /// Where the next page begins; absent after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    /// The bytes of the whole output.
    total: u64,
}

/// The tool `read_output`: a page of an output that was too long to show.
///
/// It asks for the action `output` on the id, and reads only outputs of the caller's own session.
/// A page has at most 50 KiB, begins and ends with whole characters, and is shown exactly as it is
/// stored, never retained again; a second block says where the next page begins. The pages of an
/// output, one after the other, are the whole of it.
///
/// # Cancel safety
/// Dropping the call ends the reading; nothing has changed.
#[must_use]
pub fn read_output(store: Arc<dyn OutputStore>, permission: Permission) -> Tool {
    Tool::new(
        "Read a part of an earlier result that was too long to show, by the id in its note.",
        move |input: Input, cx| {
            let (store, permission) = (Arc::clone(&store), permission.clone());
            async move {
                let mut assertion = permission.assert(&cx, "output", [&input.id]);
                if is_plain(&input.id) {
                    assertion = assertion.save(&input.id);
                }
                assertion.await?;
                let most = input.max_bytes.unwrap_or(MAX_BYTES).clamp(1, MAX_BYTES);
                let request = PageRequest::new(&input.id, Some(cx.facts()))
                    .offset(input.offset.unwrap_or(0))
                    .max_bytes(usize::try_from(most)?);
                let page = store.page(request).await.map_err(|error| {
                    if error.kind() == StoreErrorKind::NotFound {
                        let failure = ToolFailure::new(
                            "there is no output of that id; it may have expired, and ids hold only in the session that made them",
                        );
                        HandlerError::from(failure.because(error))
                    } else {
                        error.into()
                    }
                })?;
                Ok(Output {
                    report: Report {
                        offset: page.offset,
                        next: page.next,
                        total: page.total,
                    },
                    // A store keeps text, and cuts it between characters.
                    text: String::from_utf8(page.bytes.into())?,
                })
            }
        },
    )
    .structured(|output: Output| output.report)
    .model(|_input, output| blocks(output))
    .bounding(Bounding::Inline)
    .annotations(hints::reading("Read retained output"))
    .capabilities([])
    .asserts_permission()
    .into()
}

/// Whether a pattern of that text means that text only.
fn is_plain(id: &str) -> bool {
    id.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn blocks(output: Output) -> Vec<Content> {
    let Output { report, text } = output;
    let note = match report.next {
        Some(next) => Some(format!(
            "[bytes {} to {next} of {}; read on with offset {next}]",
            report.offset, report.total
        )),
        None if text.is_empty() => Some(format!(
            "[the output ends at byte {}; there is nothing to read]",
            report.total
        )),
        None => None,
    };
    let page = (!text.is_empty()).then_some(text);
    page.into_iter().chain(note).map(Content::text).collect()
}
