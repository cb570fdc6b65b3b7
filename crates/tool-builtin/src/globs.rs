//! Patterns for files.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use tool_core::ToolFailure;

/// A pattern for files below a folder.
///
/// A pattern without `/` is for the name of a file, in whatever folder it is; one with `/` is for
/// the path from the folder on. `*` and `?` stay within one name, `**` does not.
#[derive(Clone, Debug)]
pub(crate) struct FilePattern {
    matcher: GlobMatcher,
    by_name: bool,
}

impl FilePattern {
    pub(crate) fn parse(pattern: &str) -> Result<Self, ToolFailure> {
        let anchored = pattern.strip_prefix("./").unwrap_or(pattern);
        let relative = anchored.trim_start_matches('/');
        if relative.is_empty() {
            return Err(ToolFailure::new(
                "the file pattern is empty; \"**\" is for every file",
            ));
        }
        let glob = GlobBuilder::new(relative)
            .literal_separator(true)
            .build()
            .map_err(|error| {
                ToolFailure::new(format!("the file pattern is not valid: {}", error.kind()))
            })?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            by_name: relative == pattern && !relative.contains('/') && relative != "**",
        })
    }

    /// Whether a file is meant, by its path from the folder on.
    pub(crate) fn matches(&self, below: &Path) -> bool {
        match (self.by_name, below.file_name()) {
            (true, Some(name)) => self.matcher.is_match(name),
            _ => self.matcher.is_match(below),
        }
    }
}
