//! Everything that a server lists.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use serde_json::Value;

use super::call_error::CallError;
use super::connection::Connection;

/// The most tools that are taken from one server.
pub(crate) const MOST_TOOLS: usize = 10_000;
/// JSON-RPC's code for a method that does not exist.
const METHOD_NOT_FOUND: i32 = -32601;

/// Everything that a server lists, as it came.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Value>,
    /// Set when there are more tools than are taken.
    pub(crate) cut: bool,
}

impl Listing {
    /// Asks for all pages. A server that knows no tools lists none.
    pub(crate) async fn fetch(connection: &Connection) -> Result<Self, CallError> {
        let mut listing = Self::default();
        let mut cursor: Option<String> = None;
        loop {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor.take();
            let request = ListToolsRequest::with_param(params);
            let request = ClientRequest::ListToolsRequest(request);
            let mut page = match connection.request(request, |_| {}).await {
                Err(CallError::Peer {
                    code: METHOD_NOT_FOUND,
                    ..
                }) => return Ok(listing),
                page => page?,
            };
            let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
                return Err(CallError::Unreadable);
            };
            let empty = tools.is_empty();
            listing.tools.extend(tools);
            if listing.tools.len() > MOST_TOOLS {
                listing.tools.truncate(MOST_TOOLS);
                listing.cut = true;
                return Ok(listing);
            }
            // An empty text is a cursor like any other; a page without tools ends the list all
            // the same, or a server could keep us turning pages.
            cursor = match page.get("nextCursor") {
                Some(Value::String(next)) if !empty => Some(next.clone()),
                _ => return Ok(listing),
            };
        }
    }
}
