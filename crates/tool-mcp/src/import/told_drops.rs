//! What was told of declarations that make no sense.

use std::collections::HashSet;

use super::declared::Dropped;

/// The most that is remembered, and told, of one server.
const MOST: usize = 500;

/// Which fields of which tools of one server were told to be left out, so that each is told once
/// however often the server lists its tools.
#[derive(Default)]
pub(crate) struct ToldDrops {
    told: HashSet<(String, &'static str)>,
}

impl ToldDrops {
    /// Tells what was left out, unless it was told before. A server that finds ever new ways is
    /// heard so many times and no more.
    pub(crate) fn tell(&mut self, server: &str, tool: &str, dropped: &[Dropped]) {
        for Dropped { field, problem } in dropped {
            if self.told.len() >= MOST || !self.told.insert((tool.to_owned(), field)) {
                continue;
            }
            tracing::warn!(
                server,
                tool,
                field,
                problem,
                "a declaration of a server is left out"
            );
            if self.told.len() == MOST {
                tracing::warn!(
                    server,
                    "no more declarations of it that are left out are told"
                );
            }
        }
    }
}
