//! From a settlement to what a client is answered.

use serde_json::{Map, Value, json};
use tool_core::{Outcome, Refusal, Retained, Settlement};

use super::content::to_block;
use super::retained;
use crate::wire::RpcError;

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
    links: bool,
) -> Result<Map<String, Value>, RpcError> {
    if let Outcome::Refused(Refusal::Unknown { .. } | Refusal::Unavailable { .. }) =
        &settlement.outcome
    {
        return Err(RpcError::params(settlement.text()));
    }
    let failed = settlement.is_error();
    let structured = settlement
        .take_structured()
        .filter(|structured| takes_any_structure || structured.is_object());
    let mut content: Vec<Value> = settlement.content.into_iter().map(to_block).collect();
    if links {
        content.extend(settlement.retained.iter().map(retained::link));
    }
    let mut result = Map::new();
    result.insert("content".to_owned(), content.into());
    if let Some(structured) = structured {
        result.insert("structuredContent".to_owned(), structured);
    }
    result.insert("isError".to_owned(), failed.into());
    if let Some(meta) = meta(settlement.meta.map(|meta| *meta), &settlement.retained) {
        result.insert("_meta".to_owned(), meta.into());
    }
    Ok(result)
}

/// A result that says why there is none.
pub(crate) fn refused(text: impl Into<String>) -> Map<String, Value> {
    let mut result = Map::new();
    let content = json!([{"type": "text", "text": text.into()}]);
    result.insert("content".to_owned(), content);
    result.insert("isError".to_owned(), true.into());
    result
}

/// What the tool gave, and beside it what was retained, which no tool can say in our place.
fn meta(given: Option<Map<String, Value>>, retained: &[Retained]) -> Option<Map<String, Value>> {
    let mut meta = given.unwrap_or_default();
    meta.remove(RETAINED);
    if !retained.is_empty() {
        let retained: Vec<Value> = retained
            .iter()
            .map(|kept| json!({"id": kept.id, "bytes": kept.bytes, "lines": kept.lines}))
            .collect();
        meta.insert(RETAINED.to_owned(), retained.into());
    }
    (!meta.is_empty()).then_some(meta)
}
