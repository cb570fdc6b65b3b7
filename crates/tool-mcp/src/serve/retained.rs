//! Retained outputs as resources.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{BoxFuture, Facts, OutputStore, PageRequest, Retained, StoreErrorKind};

use super::{OfferError, Offered, Offers};

/// What the address of a retained output begins with.
const SCHEME: &str = "tool-output:";
/// What stands ahead of the byte at which to go on.
const OFFSET: &str = "?offset=";

/// Retained outputs, each readable for whoever made the call that it came from.
pub(crate) struct RetainedOutputs(pub(crate) Arc<dyn OutputStore>);

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

impl Offers for RetainedOutputs {
    fn offered(&self) -> Offered {
        Offered::default().resources()
    }

    /// They are not listed: a client knows those of its own calls by their links, and another
    /// client's are nobody else's to see.
    fn templates<'a>(
        &'a self,
        _caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let template = json!({
            "uriTemplate": format!("{SCHEME}{{id}}{{?offset}}"),
            "name": "retained-output",
            "title": "Retained output",
            "description": "output that was too long to be shown whole, by the id in its result; \
                            a page of at most 50 KiB from a byte on",
            "mimeType": "text/plain",
        });
        Box::pin(async move { Ok(vec![template]) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
        Box::pin(async move {
            let Some(rest) = uri.strip_prefix(SCHEME) else {
                return Ok(None);
            };
            let (id, offset) = match rest.split_once(OFFSET) {
                None => (rest, 0),
                Some((id, offset)) => {
                    let offset = offset.parse().map_err(|_| {
                        OfferError::new("the offset is no number of bytes; give one from 0 on")
                    })?;
                    (id, offset)
                }
            };
            let request = PageRequest::new(id, Some(caller)).offset(offset);
            let page = match self.0.page(request).await {
                Ok(page) => page,
                Err(error) if error.kind() == StoreErrorKind::NotFound => return Ok(None),
                Err(error) => {
                    return Err(OfferError::new("the output could not be read").because(error));
                }
            };
            let next = page.next.map(|next| format!("{SCHEME}{id}{OFFSET}{next}"));
            Ok(Some(json!({"contents": [{
                "uri": uri,
                "mimeType": "text/plain",
                "text": String::from_utf8_lossy(&page.bytes),
                "_meta": {"tool-runtime/page": {
                    "offset": page.offset,
                    "bytes": page.bytes.len(),
                    "total": page.total,
                    "next": next,
                }},
            }]})))
        })
    }
}
