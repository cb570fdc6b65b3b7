//! The span of one call, for whoever collects traces.

use std::time::Instant;

use tool_core::{Arguments, Call, Content, Facts, Settlement};
use tracing::field::{Empty, display};
use tracing::{Level, Span};

use crate::Door;

/// A span around one call: ids, sizes and how long it took, never arguments nor results. Costs
/// next to nothing while nobody collects it.
pub(super) struct Trace(Option<Box<Collected>>);

struct Collected {
    span: Span,
    began: Instant,
}

impl Trace {
    pub(super) fn of(call: &Call, facts: &Facts, door: Door) -> Self {
        if !tracing::enabled!(Level::INFO) {
            return Self(None);
        }
        let span = tracing::info_span!(
            "tool_call",
            tool = %call.name().escape_debug(),
            call = Empty,
            session = Empty,
            agent = Empty,
            message = Empty,
            run = Empty,
            door = door.as_str(),
            arguments_bytes = Empty,
            outcome = Empty,
            kind = Empty,
            content_bytes = Empty,
            retained_bytes = Empty,
            duration_ms = Empty,
        );
        // What is absent stays absent.
        let record = |field: &str, id: Option<&str>| {
            if let Some(id) = id {
                span.record(field, display(id.escape_debug()));
            }
        };
        record("call", call.call_id().map(|id| id.as_str()));
        record("session", facts.session_id().map(|id| id.as_str()));
        record("agent", facts.agent_id().map(|id| id.as_str()));
        record("message", facts.message_id().map(|id| id.as_str()));
        record("run", facts.run_id().map(|id| id.as_str()));
        if let Arguments::Text(text) = call.arguments() {
            span.record("arguments_bytes", text.len());
        }
        let began = Instant::now();
        Self(Some(Box::new(Collected { span, began })))
    }

    /// Runs inside the span, where anybody collects it.
    pub(super) fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        match self.0.as_deref() {
            None => run(),
            Some(collected) => collected.span.in_scope(run),
        }
    }

    /// Says how the call ended.
    pub(super) fn settled(&self, settlement: &Settlement) {
        let Some(Collected { span, began }) = self.0.as_deref() else {
            return;
        };
        let tool = settlement.tool.escape_debug();
        let retained: u64 = settlement.retained.iter().map(|one| one.bytes).sum();
        span.record("tool", display(tool));
        span.record("outcome", settlement.outcome.as_str());
        if let Some(kind) = settlement.outcome.kind() {
            span.record("kind", kind);
        }
        span.record("content_bytes", bytes(&settlement.content));
        span.record("retained_bytes", retained);
        let duration = began.elapsed().as_secs_f64() * 1_000.0;
        span.record("duration_ms", duration);
    }
}

/// Bytes of text and media.
fn bytes(content: &[Content]) -> usize {
    let size = |block: &Content| match block {
        Content::Text(text) => text.text.len(),
        Content::Media(media) => media.data.len(),
        _ => 0,
    };
    content.iter().map(size).sum()
}
