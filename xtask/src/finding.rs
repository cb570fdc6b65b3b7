//! What a rule has to say against the workspace.

use std::fmt;

/// The rules. Each has its own words in a finding, so that two failures are never mistaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A dependency that the layer table does not allow.
    ForbiddenEdge,
    /// A crate that the layer table does not list.
    UnplacedCrate,
    /// A row, or an allowance in one, that nothing in the workspace uses.
    StaleRow,
    /// The facade does not hold every published crate below it.
    ThinFacade,
    /// A crate whose whole tree holds what its layer must not pull in.
    HeavyTree,
    /// A manifest that says for itself what the workspace says for all.
    Manifest,
    /// A workspace dependency that no member uses.
    UnusedDependency,
    /// A source file that holds more than one noun.
    LongFile,
    /// A file that is named after nothing.
    VagueName,
    /// A piece that is unfinished or switched off.
    Unfinished,
    /// A path or a host of the machine on which the code was written.
    Surroundings,
    /// A test that waits for time to pass.
    Sleep,
    /// An exception without a reason, or one that excuses nothing.
    Exception,
    /// A document that says other than the manifests.
    Docs,
    /// A link that leads nowhere.
    Link,
    /// A law or an invariant whose guard is missing.
    Law,
}

/// One place where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The file, relative to the root of the repository.
    pub path: String,
    /// The line, from 1, where the finding has one.
    pub line: Option<usize>,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl Rule {
    /// The name of the rule in findings and in the list of exceptions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ForbiddenEdge => "forbidden edge",
            Self::UnplacedCrate => "crate without a row",
            Self::StaleRow => "stale row",
            Self::ThinFacade => "thin facade",
            Self::HeavyTree => "heavy tree",
            Self::Manifest => "manifest",
            Self::UnusedDependency => "unused dependency",
            Self::LongFile => "long file",
            Self::VagueName => "vague name",
            Self::Unfinished => "unfinished",
            Self::Surroundings => "surroundings",
            Self::Sleep => "sleep",
            Self::Exception => "exception",
            Self::Docs => "docs",
            Self::Link => "link",
            Self::Law => "law",
        }
    }
}

impl Finding {
    /// A finding in a file as a whole.
    pub fn new(rule: Rule, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            rule,
            path: path.into(),
            line: None,
            message: message.into(),
        }
    }

    /// Adds the line, from 1.
    #[must_use]
    pub fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
}

/// The findings, one a line, sorted.
#[must_use]
pub fn listed(findings: &[Finding]) -> String {
    let mut lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.sort();
    lines.dedup();
    lines.join("\n")
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
