//! Lists in pages.

use std::num::NonZeroUsize;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::wire::RpcError;

/// Stands ahead of the name in a cursor, so that a text of somebody else's is told from one.
const AFTER: &[u8] = b"after:";

/// Cuts one page out of a list whose entries stand in the order of their names.
///
/// A cursor names the entry that the page before ended with. So entries that come or go between
/// two pages neither repeat others nor hide them, and a cursor stays good for ever.
pub(crate) fn page(
    kind: &str,
    entries: impl Iterator<Item = (String, Value)>,
    cursor: Option<&str>,
    size: NonZeroUsize,
) -> Result<Map<String, Value>, RpcError> {
    let after = match cursor {
        // An empty cursor is a cursor, and nothing has a name before it.
        None | Some("") => None,
        Some(cursor) => Some(name(cursor).ok_or_else(|| {
            RpcError::params("the cursor is none of this server's; begin without one")
        })?),
    };
    let mut rest =
        entries.skip_while(|(name, _)| after.as_ref().is_some_and(|after| name <= after));
    let mut page = Vec::new();
    let mut last = None;
    for (name, entry) in rest.by_ref().take(size.get()) {
        page.push(entry);
        last = Some(name);
    }
    let mut result = Map::new();
    result.insert(kind.to_owned(), page.into());
    if let (Some(last), Some(_)) = (last, rest.next()) {
        result.insert("nextCursor".to_owned(), cursor_after(&last).into());
    }
    Ok(result)
}

fn cursor_after(name: &str) -> String {
    URL_SAFE_NO_PAD.encode([AFTER, name.as_bytes()].concat())
}

fn name(cursor: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let name = bytes.strip_prefix(AFTER)?;
    String::from_utf8(name.to_vec()).ok()
}
