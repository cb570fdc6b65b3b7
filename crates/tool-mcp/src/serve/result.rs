//! From a settlement to what a client is answered.

use rmcp::model::{CallToolResult, ErrorData, MetaObject};
use serde_json::{Map, Value, json};
use tool_core::{Outcome, Refusal, Retained, Settlement};

use super::content::to_block;

/// The key of `_meta` under which a client finds what was retained of a result.
const RETAINED: &str = "tool-runtime/retained";

/// The answer to a call.
///
/// A tool that does not exist is an error of the protocol; everything else, refusals included, is
/// a result, so that a model reads it and can do better. Structured content that is no object is
/// for clients that take it: the others find it in the content, where the runtime has put it.
///
/// Source: Model Context Protocol 2025-11-25, "Tools", Error Handling.
pub(crate) fn answer(
    mut settlement: Settlement,
    takes_any_structure: bool,
) -> Result<CallToolResult, ErrorData> {
    if let Outcome::Refused(Refusal::Unknown { .. } | Refusal::Unavailable { .. }) =
        &settlement.outcome
    {
        return Err(ErrorData::invalid_params(settlement.text(), None));
    }
    let failed = settlement.is_error();
    let structured = settlement.take_structured();
    let content = settlement.content.into_iter().map(to_block).collect();
    let mut result = if failed {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content =
        structured.filter(|structured| takes_any_structure || structured.is_object());
    result.meta = meta(settlement.meta, &settlement.retained);
    Ok(result)
}

/// What the tool gave, and beside it what was retained, which no tool can say in our place.
fn meta(given: Option<Map<String, Value>>, retained: &[Retained]) -> Option<MetaObject> {
    let mut meta = given.unwrap_or_default();
    meta.remove(RETAINED);
    if !retained.is_empty() {
        let retained: Vec<Value> = retained
            .iter()
            .map(|kept| json!({"id": kept.id, "bytes": kept.bytes, "lines": kept.lines}))
            .collect();
        meta.insert(RETAINED.to_owned(), retained.into());
    }
    (!meta.is_empty()).then_some(MetaObject(meta))
}
