//! Pages that a client was shown, until they are done.

use std::collections::VecDeque;

/// Pages of which one client may be told that they are done. Beyond, the oldest is not.
#[cfg(feature = "child")]
const MOST_PAGES: usize = 256;

/// Bytes of the id of a page, as a client is shown it. One that is longer is not told to be done.
#[cfg(feature = "child")]
pub(crate) const PAGE_ID_BYTES: usize = 1_024;

/// The id under which a client is shown a page of an imported server. To the client all of them are
/// one server, whose ids are unique, so that it names the one whose page it is. The length keeps
/// apart what may hold the separator.
///
/// Source: Model Context Protocol 2025-11-25, "Elicitation", URL mode.
pub(crate) fn shown_id(server: &str, id: &str) -> String {
    format!("{}:{server}:{id}", server.len())
}

/// Pages of which nobody said that they are done, by the ids under which they were shown. The one
/// that was shown the longest time ago is the first.
#[derive(Default)]
pub(crate) struct ShownPages(VecDeque<String>);

impl ShownPages {
    /// The client is about to be shown a page.
    #[cfg(feature = "child")]
    pub(crate) fn show(&mut self, id: &str) {
        if id.len() > PAGE_ID_BYTES {
            return;
        }
        self.0.retain(|page| page != id);
        self.0.push_back(id.to_owned());
        if self.0.len() > MOST_PAGES {
            self.0.pop_front();
        }
    }

    /// Whether the client was shown that page, and not told yet that it is done.
    pub(crate) fn end(&mut self, id: &str) -> bool {
        let shown = self.0.iter().position(|page| page == id);
        shown.and_then(|at| self.0.remove(at)).is_some()
    }
}

#[cfg(all(test, feature = "child"))]
mod tests {
    use super::{MOST_PAGES, PAGE_ID_BYTES, ShownPages, shown_id};

    #[test]
    fn the_page_that_was_shown_the_longest_time_ago_gives_way_first() {
        let mut pages = ShownPages::default();
        for n in 0..MOST_PAGES {
            pages.show(&n.to_string());
        }
        // Shown again, it is one of the newest.
        pages.show("0");
        pages.show("one more");
        assert!(!pages.end("1"));
        for there in ["0", "2", "one more"] {
            assert!(pages.end(there), "{there}");
            assert!(!pages.end(there), "{there} is told once");
        }
        assert_eq!(pages.0.len(), MOST_PAGES - 3);
    }

    #[test]
    fn an_id_that_is_too_long_is_not_kept() {
        let mut pages = ShownPages::default();
        for (bytes, is_kept) in [(PAGE_ID_BYTES, true), (PAGE_ID_BYTES + 1, false)] {
            let id = "x".repeat(bytes);
            pages.show(&id);
            assert_eq!(pages.end(&id), is_kept, "{bytes}");
        }
    }

    #[test]
    fn no_two_servers_have_an_id_together() {
        assert_ne!(shown_id("a", "b:c"), shown_id("a:b", "c"));
    }
}
