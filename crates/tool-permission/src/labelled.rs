//! Cases with a label: what a decision has to be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;
use tool_core::{Action, Decision, Facts, Request, Resource, Ruling};

use crate::{CommandAnalysis, CommandWord, Effect, Layer, ProbedVolumes, Rule, RulePolicy, Volume};

/// A case with a label: rules, what is asked, and the decisions that are right.
///
/// One line of JSON each. A line for a shell:
///
/// ```
/// use tool_permission::LabelledCase;
///
/// let case = LabelledCase::parse(r#"{
///     "id": "sh-1", "kind": "chain", "command": "ls && rm x",
///     "rules": [{"effect": "allow", "action": "shell", "resource": "ls *"},
///               {"effect": "deny", "action": "shell", "resource": "rm *"}],
///     "expect": "deny"}"#)?;
/// let verdict = case.run(std::path::Path::new("/nowhere"))?;
/// assert!(verdict.is_right());
/// # Ok::<(), tool_permission::CaseError>(())
/// ```
///
/// A path has `action`, `path` and `setup` (a list of `{"mkdir": ..}`, `{"file": ..}` and
/// `{"symlink": .., "to": ..}`) in place of `command`; `${BASE}` is the folder that it runs in,
/// and `ws` in it the workspace. Optional are `cwd`, `also` (other right decisions), `parts` (what
/// the line runs, writes and assigns), `volume`, `verified` and `why`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledCase {
    id: String,
    #[serde(default)]
    kind: String,
    rules: Vec<CaseRule>,
    command: Option<String>,
    cwd: Option<PathBuf>,
    path: Option<String>,
    action: Option<String>,
    #[serde(default)]
    setup: Vec<Step>,
    volume: Option<String>,
    expect: Effect,
    #[serde(default)]
    also: Vec<Effect>,
    parts: Option<Value>,
    #[serde(default, rename = "verified")]
    _verified: bool,
    #[serde(default)]
    why: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRule {
    effect: Effect,
    action: String,
    resource: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Step {
    Folder { mkdir: String },
    File { file: String },
    Link { symlink: String, to: String },
}

/// A case that could not be tried.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaseError {
    /// It is not written as a case is.
    #[error("the line is no labelled case")]
    Form(#[source] serde_json::Error),
    /// It has neither a command nor an action on a path, or both.
    #[error("case {0} needs either a `command`, or an `action` and a `path`")]
    Subject(String),
    /// A value in it is not known.
    #[error("case {0} has a volume that is not known")]
    Volume(String),
    /// A rule of it can never do what it says.
    #[error("a rule of case {0} cannot be used")]
    Rule(String, #[source] crate::LoadError),
    /// Its files could not be made.
    #[error("the files of case {0} could not be made")]
    Setup(String, #[source] io::Error),
    /// It would make files outside of its folder.
    #[error("case {0} makes a file outside of its folder")]
    Outside(String),
}

/// How a case came out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseVerdict {
    /// The name of the case.
    pub id: String,
    /// Its family.
    pub kind: String,
    /// The decision that was made, with what decided.
    pub ruling: Ruling,
    /// The decision that the label names first.
    pub expected: Decision,
    /// Why the label is what it is.
    pub why: String,
    /// Whether the decision is one that the label names.
    pub decided: bool,
    /// Where the analysis of a line differs from the label.
    pub differences: Vec<String>,
}

impl CaseVerdict {
    /// Whether decision and analysis are as the label says.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.decided && self.differences.is_empty()
    }
}

impl LabelledCase {
    /// Reads a case.
    ///
    /// # Errors
    /// [`CaseError`] when it is not written as one.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        let case: Self = serde_json::from_str(text).map_err(CaseError::Form)?;
        match (&case.command, &case.path, &case.action) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => Ok(case),
            _ => Err(CaseError::Subject(case.id)),
        }
    }

    /// The name of the case.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it makes files, for which it needs an empty folder.
    #[must_use]
    pub fn makes_files(&self) -> bool {
        self.path.is_some()
    }

    /// Tries the case. One about a path makes its files in the base folder, which has to be
    /// absolute and empty; a line for a shell runs nothing and touches nothing. It blocks.
    ///
    /// # Errors
    /// [`CaseError`] when it could not be tried.
    pub fn run(&self, base: &Path) -> Result<CaseVerdict, CaseError> {
        let (ruling, differences) = match (&self.command, &self.path, &self.action) {
            (Some(line), _, _) => self.line(line)?,
            (None, Some(path), Some(action)) => (self.file(base, action, path)?, Vec::new()),
            _ => return Err(CaseError::Subject(self.id.clone())),
        };
        let right = std::iter::once(&self.expect).chain(&self.also);
        Ok(CaseVerdict {
            id: self.id.clone(),
            kind: self.kind.clone(),
            expected: self.expect.decision(),
            why: self.why.clone(),
            decided: right
                .map(|effect| effect.decision())
                .any(|decision| decision == ruling.decision),
            ruling,
            differences,
        })
    }

    fn line(&self, line: &str) -> Result<(Ruling, Vec<String>), CaseError> {
        let root = Path::new("/repo");
        let cwd = self.cwd.as_deref().unwrap_or(root);
        let policy = self.policy("")?.home("/home/dev");
        let resources = [Resource::command(root, cwd, line)];
        let facts = Facts::new();
        let ruling = policy.judge(&Request::new(Action::new(Rule::SHELL), resources, &facts));
        let differences = match &self.parts {
            None => Vec::new(),
            Some(parts) => differences(parts, &CommandAnalysis::new(root, cwd, line)),
        };
        Ok((ruling, differences))
    }

    fn file(&self, base: &Path, action: &str, path: &str) -> Result<Ruling, CaseError> {
        let based = base.to_string_lossy();
        let root = base.join("ws");
        let setup = |error| CaseError::Setup(self.id.clone(), error);
        fs::create_dir_all(&root).map_err(setup)?;
        for step in &self.setup {
            let at = base.join(step.path());
            if !Path::new(step.path())
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)))
            {
                return Err(CaseError::Outside(self.id.clone()));
            }
            step.take(&at, &based).map_err(setup)?;
        }
        let policy = self.policy(&based)?.home(base.join("home"));
        let policy = match self.volume.as_deref() {
            None => policy.volumes(ProbedVolumes::new()),
            // Both spellings of an accent are always one name to rules that deny or ask.
            Some("case-sensitive" | "normalising") => policy.volumes(Volume::KeepsCase),
            Some("case-insensitive") => policy.volumes(Volume::IgnoresCase),
            Some(_) => return Err(CaseError::Volume(self.id.clone())),
        };
        let resources = [Resource::path(root, path.replace("${BASE}", &based))];
        let facts = Facts::new();
        Ok(policy.judge(&Request::new(Action::new(action), resources, &facts)))
    }

    fn policy(&self, base: &str) -> Result<RulePolicy, CaseError> {
        let rules = self.rules.iter().map(|rule| {
            let resource = rule.resource.replace("${BASE}", base);
            Rule::new(rule.effect, rule.action.as_str(), resource)
        });
        let layer = Layer::new("case", rules);
        let layer = layer.map_err(|error| CaseError::Rule(self.id.clone(), error))?;
        Ok(RulePolicy::new([layer]))
    }
}

impl Step {
    fn path(&self) -> &str {
        match self {
            Self::Folder { mkdir } => mkdir,
            Self::File { file } => file,
            Self::Link { symlink, .. } => symlink,
        }
    }

    fn take(&self, at: &Path, base: &str) -> io::Result<()> {
        if let Some(folder) = at.parent() {
            fs::create_dir_all(folder)?;
        }
        match self {
            Self::Folder { .. } => fs::create_dir_all(at),
            Self::File { .. } => fs::write(at, ""),
            Self::Link { to, .. } => link(&to.replace("${BASE}", base), at),
        }
    }
}

#[cfg(unix)]
fn link(to: &str, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(windows)]
fn link(to: &str, at: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(to, at)
}

/// Where an analysis differs from its label; what the label leaves out is not compared.
fn differences(parts: &Value, analysis: &CommandAnalysis) -> Vec<String> {
    let mut differs = Vec::new();
    if let Some(labels) = list(parts, "argv") {
        let mut left: Vec<&[CommandWord]> = analysis.commands().collect();
        for argv in labels {
            match left.iter().position(|words| same_words(argv, words)) {
                Some(at) => drop(left.swap_remove(at)),
                None => differs.push(format!("command {argv} is missing")),
            }
        }
        differs.extend(left.iter().map(|words| {
            let words: Vec<&str> = words.iter().map(CommandWord::shown).collect();
            format!("command {words:?} was found")
        }));
    }
    if let Some(labels) = list(parts, "redirects") {
        let mut left: Vec<_> = analysis.redirects().collect();
        for opened in labels {
            let same = left.iter().position(|file| {
                let op = opened.get("op").and_then(Value::as_str);
                let path = opened.get("path").and_then(Value::as_str);
                op == Some(file.operator()) && path == file.path().as_deref()
            });
            match same {
                Some(at) => drop(left.swap_remove(at)),
                None => differs.push(format!("file {opened} is missing")),
            }
        }
        let found = left.iter();
        differs.extend(found.map(|file| format!("file \"{}\" was found", file.shown())));
    }
    if let Some(opaque) = parts.get("opaque").and_then(Value::as_bool)
        && opaque != analysis.opaque().is_some()
    {
        differs.push(match analysis.opaque() {
            Some(why) => format!("the line can't be read: {why}"),
            None => "the whole line could be read".to_owned(),
        });
    }
    if let Some(labels) = list(parts, "assign") {
        let found: Vec<_> = analysis.assignments().collect();
        let same = found.len() == labels.len()
            && labels.iter().zip(&found).all(|(label, found)| {
                label.get(0).and_then(Value::as_str) == Some(found.name())
                    && label
                        .get(1)
                        .is_some_and(|label| same_word(label, found.value()))
            });
        if !same {
            let names: Vec<_> = found.iter().map(|found| found.name()).collect();
            differs.push(format!("the assignments are those of {names:?}"));
        }
    }
    differs
}

fn list<'v>(parts: &'v Value, key: &str) -> Option<&'v Vec<Value>> {
    parts.get(key).and_then(Value::as_array)
}

fn same_words(labels: &Value, words: &[CommandWord]) -> bool {
    labels.as_array().is_some_and(|labels| {
        labels.len() == words.len()
            && labels
                .iter()
                .zip(words)
                .all(|(label, word)| same_word(label, word))
    })
}

/// Known words are the same; an unknown one is shown as it was written.
fn same_word(label: &Value, word: &CommandWord) -> bool {
    match label {
        Value::String(text) => word.known() == Some(text),
        label => {
            let unknown = label.get("unknown").and_then(Value::as_str);
            word.known().is_none() && unknown == Some(word.shown())
        }
    }
}
