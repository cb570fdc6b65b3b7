//! What a line would run and touch.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::{Path, PathBuf};

use super::field::CommandWord;
use super::folder::Place;
use super::reading::Stop;
use super::walk::Walker;

/// What a line would run, as far as reading it can tell. It is read as bash 5.2 reads it.
///
/// Every command in it is found wherever it stands: in chains, pipelines, groups, control flow,
/// functions, substitutions, expansions, subscripts, arithmetic, here-documents, and behind
/// wrappers such as `env`, `xargs` or `bash -c`. What cannot be told makes the line
/// [opaque](Self::opaque); nothing is guessed.
///
/// Reading takes time in proportion to the length of the line. A line of more than 64 KiB, or one
/// that nests more than 64 levels, is opaque.
///
/// ```
/// use tool_permission::CommandAnalysis;
///
/// let analysis = CommandAnalysis::new("/repo", "/repo", "cd sub && echo $(date) > log");
/// let commands: Vec<String> = analysis.commands().map(|words| {
///     words.iter().map(|word| word.shown()).collect::<Vec<_>>().join(" ")
/// }).collect();
/// assert_eq!(commands, ["cd sub", "date", "echo $(date)"]);
/// assert_eq!(analysis.redirects().next().unwrap().path().as_deref(), Some("sub/log"));
/// assert!(analysis.opaque().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct CommandAnalysis {
    root: PathBuf,
    pub(super) commands: Vec<Call>,
    pub(super) redirects: Vec<CommandRedirect>,
    pub(super) assignments: Vec<CommandAssignment>,
    /// Folders that are changed to.
    pub(super) folders: Vec<FolderUse>,
    /// Why the line may not be allowed although it could be read.
    pub(super) cautions: Vec<String>,
    pub(super) hidden: Option<Stop>,
    pub(super) steps: usize,
}

/// A file that a redirect opens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandRedirect {
    pub(super) operator: &'static str,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) place: Place,
    pub(super) shown: String,
    root: PathBuf,
}

/// An assignment before a command or alone.
#[derive(Clone, Debug)]
pub struct CommandAssignment {
    name: String,
    value: CommandWord,
}

/// One command with the words that it would run with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) words: Vec<CommandWord>,
    /// It only runs commands that are judged themselves, so that it needs no allow rule.
    pub(super) transparent: bool,
    /// The place of the subcommand of git.
    pub(super) subcommand: Option<usize>,
    /// One of its words is a program for an interpreter, which is not read.
    pub(super) holds_code: bool,
}

/// A folder that a command changes to.
#[derive(Clone, Debug)]
pub(super) struct FolderUse {
    pub(super) place: Place,
    pub(super) shown: String,
}

impl CommandAnalysis {
    /// Reads a line that runs in `cwd`, an absolute path; what lies below `root` is inside.
    #[must_use]
    pub fn new(root: impl AsRef<Path>, cwd: impl AsRef<Path>, line: &str) -> Self {
        let empty = Self {
            root: root.as_ref().to_owned(),
            commands: Vec::new(),
            redirects: Vec::new(),
            assignments: Vec::new(),
            folders: Vec::new(),
            cautions: Vec::new(),
            hidden: None,
            steps: 0,
        };
        Walker::new(empty).line(line, cwd.as_ref())
    }

    /// Every command once, as the words that it would run with. A wrapper comes before what it
    /// runs; the order is of no other meaning.
    pub fn commands(&self) -> impl Iterator<Item = &[CommandWord]> {
        self.commands.iter().map(|call| call.words.as_slice())
    }

    /// The files that redirects open. Harmless ones are left out: the null device, copies of
    /// descriptors, and process substitutions.
    pub fn redirects(&self) -> impl Iterator<Item = &CommandRedirect> {
        self.redirects.iter()
    }

    /// The assignments before commands or alone.
    pub fn assignments(&self) -> impl Iterator<Item = &CommandAssignment> {
        self.assignments.iter()
    }

    /// Why a part of what would run cannot be read, if so. Such a line is never allowed.
    #[must_use]
    pub fn opaque(&self) -> Option<&'static str> {
        self.hidden.map(|stop| stop.0)
    }

    /// How much work reading the line took, whatever the machine: the characters that were read,
    /// those that were read again counted again, and those of the words that were found.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Leaves each command and file once.
    pub(super) fn unite(&mut self) {
        retain_first(&mut self.commands);
        retain_first(&mut self.redirects);
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}

/// Leaves the first of those that are equal, without copying any.
fn retain_first<T: Eq + Hash>(items: &mut Vec<T>) {
    let mut seen = HashSet::with_capacity(items.len());
    let first: Vec<bool> = items.iter().map(|item| seen.insert(item)).collect();
    let mut first = first.into_iter();
    items.retain(|_| first.next().unwrap_or_default());
}

impl CommandRedirect {
    pub(super) fn new(
        operator: &'static str,
        (reads, writes): (bool, bool),
        place: Place,
        shown: String,
        root: &Path,
    ) -> Self {
        Self {
            operator,
            reads,
            writes,
            place,
            shown,
            root: root.to_owned(),
        }
    }

    /// The operator as it was written, without a descriptor.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// The file, without `.` and `..`: relative when it lies inside the root, below `~` in the
    /// home directory, else absolute. None if only running can tell.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        self.paths().next()
    }

    /// Every file that it may be: that of [`path`](Self::path) first, then those that are opened
    /// where a change of folder before it fails. None at all if only running can tell.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.place.relative_to(&self.root)
    }

    /// The target as it was written, without quotes.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl CommandAssignment {
    pub(super) fn new(name: String, value: CommandWord) -> Self {
        Self { name, value }
    }

    /// The name of the variable.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is set to.
    #[must_use]
    pub fn value(&self) -> &CommandWord {
        &self.value
    }
}
