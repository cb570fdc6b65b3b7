//! A file of the repository with its text.

/// A text file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFile {
    /// The path from the root of the repository, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// A file from its path and text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    /// The name without folders.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The name without folders and without what follows the last dot.
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// What follows the last dot of the name; empty without one.
    #[must_use]
    pub fn extension(&self) -> &str {
        self.name()
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension)
    }

    /// Whether it is Rust source.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }

    /// Whether it is Markdown.
    #[must_use]
    pub fn is_markdown(&self) -> bool {
        self.extension() == "md"
    }

    /// Whether it is test code: in a folder `tests`, or a file `tests.rs` beside its subject.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.stem() == "tests"
    }

    /// The lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
    }
}
