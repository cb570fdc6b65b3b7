//! Retained outputs as resources.

use serde_json::{Map, Value, json};
use tool_core::{Facts, OutputStore, PageRequest, Retained, StoreErrorKind};

use crate::offerings::{OfferError, OfferErrorKind};
use crate::wire::RpcError;

/// What the address of a retained output begins with.
const SCHEME: &str = "tool-output:";
/// What stands ahead of the byte at which to go on.
const OFFSET: &str = "?offset=";
/// The key of `_meta` under which a client finds how a page goes on.
const PAGE: &str = "tool-runtime/page";

/// The link by which a result names what was retained of it.
pub(crate) fn link(retained: &Retained) -> Value {
    json!({
        "type": "resource_link",
        "uri": format!("{SCHEME}{}", retained.id),
        "name": retained.id,
        "title": "The whole output",
        "description": format!(
            "all {} bytes and {} lines of this output, in pages",
            retained.bytes, retained.lines,
        ),
        "mimeType": "text/plain",
        "size": retained.bytes,
    })
}

/// The template of their addresses, and its key.
///
/// They are not listed: a client knows those of its own calls by their links, and another client's
/// are nobody else's to see.
pub(crate) fn template() -> (String, Value) {
    let template = format!("{SCHEME}{{id}}{{?offset}}");
    let entry = json!({
        "uriTemplate": template,
        "name": "retained-output",
        "title": "Retained output",
        "description": "output that was too long to be shown whole, by the id in its result; \
                        a page of at most 50 KiB from a byte on",
        "mimeType": "text/plain",
    });
    (template, entry)
}

/// Whether an address is that of a retained output.
pub(crate) fn is_own(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// Reads a page, for whoever made the call that the output came from.
pub(crate) async fn read(
    outputs: &dyn OutputStore,
    uri: &str,
    caller: &Facts,
) -> Result<Map<String, Value>, OfferError> {
    let rest = uri.strip_prefix(SCHEME).unwrap_or(uri);
    let (id, offset) = match rest.split_once(OFFSET) {
        None => (rest, Ok(0)),
        Some((id, offset)) => (id, offset.parse()),
    };
    let Ok(offset) = offset else {
        let text = "the offset is no number of bytes; give one from 0 on";
        return Err(OfferError::new(
            OfferErrorKind::Peer(RpcError::PARAMS),
            text,
        ));
    };
    let request = PageRequest::new(id, Some(caller)).offset(offset);
    let page = outputs.page(request).await.map_err(|error| {
        let kind = match error.kind() {
            StoreErrorKind::NotFound => OfferErrorKind::NotFound,
            _ => OfferErrorKind::Unavailable,
        };
        OfferError::new(kind, "the output could not be read").because(error)
    })?;
    let next = page.next.map(|next| format!("{SCHEME}{id}{OFFSET}{next}"));
    let contents = json!([{
        "uri": uri,
        "mimeType": "text/plain",
        "text": String::from_utf8_lossy(&page.bytes),
        "_meta": {PAGE: {
            "offset": page.offset,
            "bytes": page.bytes.len(),
            "total": page.total,
            "next": next,
        }},
    }]);
    Ok(Map::from_iter([("contents".to_owned(), contents)]))
}
