//! Rules that do not do what their author may think.

use std::fmt;

use crate::subject::Dialect;
use crate::{Approval, Effect, Layer, Rule};

/// A rule that does not do what its author may think.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The rule.
    pub rule: Rule,
    /// What is the matter.
    pub kind: LintKind,
    /// The matter in words, with the way out.
    pub problem: String,
}

/// What is the matter with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LintKind {
    /// Nothing that it could be asked about matches it.
    NeverMatches,
    /// A stricter rule matches whatever it matches, so that it never decides.
    Shadowed,
    /// A rule of the same effect matches whatever it matches.
    Repeated,
    /// Its action is nearly one of those that are built in, but is another one.
    Misspelt,
}

impl LintKind {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeverMatches => "never-matches",
            Self::Shadowed => "shadowed",
            Self::Repeated => "repeated",
            Self::Misspelt => "misspelt",
        }
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.rule.place();
        match self.rule.line() {
            Some(line) => write!(f, "{place}:{line}: {}: {}", self.rule, self.problem),
            None => write!(f, "{place}: {}: {}", self.rule, self.problem),
        }
    }
}

/// Looks for rules that can never match, never decide, or say what another says, in all layers
/// together. The findings are in the order of the layers.
///
/// It reports only what is certain, but for actions that look misspelt, and takes time in proportion to the square of the number of
/// rules of an action.
///
/// ```
/// use tool_permission::{Layer, LintKind, Rule, lint};
///
/// # fn main() -> Result<(), tool_permission::LoadError> {
/// let rules = [Rule::deny("shell", "git *"), Rule::allow("shell", "git status *")];
/// let found = lint(&[Layer::new("project", rules)?]);
/// assert_eq!(found[0].kind, LintKind::Shadowed);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn lint(layers: &[Layer]) -> Vec<Lint> {
    let rules: Vec<&Rule> = layers.iter().flat_map(Layer::rules).collect();
    let mut found = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        if let Some(problem) = never_matches(rule) {
            found.push(Lint {
                rule: (*rule).clone(),
                kind: LintKind::NeverMatches,
                problem: format!("it never matches: {problem}"),
            });
            continue;
        }
        if let Some(meant) = meant(rule.action()) {
            found.push(Lint {
                rule: (*rule).clone(),
                kind: LintKind::Misspelt,
                problem: format!(
                    "no action that is built in has this name; did you mean \"{meant}\"? Only a tool of your own may ask about it"
                ),
            });
        }
        let others = rules.iter().enumerate().filter(|(other, _)| *other != at);
        let wider: Vec<_> = others.filter(|(_, other)| includes(other, rule)).collect();
        let stricter = wider.iter().find(|(_, other)| beats(other, rule));
        if let Some((_, by)) = stricter {
            found.push(Lint {
                rule: (*rule).clone(),
                kind: LintKind::Shadowed,
                problem: format!(
                    "it never decides: whatever it matches, {} already decides; narrow that, or remove this",
                    by.named()
                ),
            });
            continue;
        }
        // Of two that are equal the later one is the one too many.
        let same = wider.iter().find(|(other, wider)| {
            wider.effect() == rule.effect()
                && wider.is_sticky() >= rule.is_sticky()
                && (*other < at || !includes(rule, wider))
        });
        if let Some((_, by)) = same {
            found.push(Lint {
                rule: (*rule).clone(),
                kind: LintKind::Repeated,
                problem: format!("it adds nothing to {}; remove one of them", by.named()),
            });
        }
    }
    found
}

impl Approval {
    /// The rule because of which the approval can never count: it denies, or asks and is sticky,
    /// whatever the approval matches. None where that is not certain.
    ///
    /// ```
    /// use tool_permission::{Approval, Layer, Rule, Scope};
    ///
    /// # fn main() -> Result<(), tool_permission::LoadError> {
    /// let layers = [Layer::new("project", [Rule::deny("shell", "git push *")])?];
    /// let push = Approval::new("shell", "git push origin *", Scope::Project);
    /// assert!(push.overruled_by(&layers).is_some());
    /// let git = Approval::new("shell", "git *", Scope::Project);
    /// assert!(git.overruled_by(&layers).is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn overruled_by<'l>(&self, layers: &'l [Layer]) -> Option<&'l Rule> {
        let allow = Rule::allow(self.action.as_str(), &self.resource);
        let mut rules = layers.iter().flat_map(Layer::rules);
        rules.find(|rule| {
            (rule.effect() == Effect::Deny || rule.is_sticky()) && includes(rule, &allow)
        })
    }
}

/// Whether a rule decides wherever both match.
fn beats(one: &Rule, other: &Rule) -> bool {
    one.effect() > other.effect()
}

/// Whether the first surely matches whatever the second does.
fn includes(one: &Rule, other: &Rule) -> bool {
    let actions = one.action() == other.action() || one.action() == Rule::ANY_ACTION;
    let dialects: &[Dialect] = match other.action() {
        Rule::SHELL => &[Dialect::Words],
        action if Rule::PATH_ACTIONS.contains(&action) => &[Dialect::Path],
        Rule::ANY_ACTION => &[Dialect::Name, Dialect::Words, Dialect::Path],
        // A tool of the host may ask about names or about paths.
        _ => &[Dialect::Name, Dialect::Path],
    };
    // Allow rules of a shell take the program as it is written, the others also its base name.
    actions
        && one.applies_at_least_like(other)
        && dialects
            .iter()
            .all(|dialect| one.resource().contains(other.resource(), *dialect))
}

/// The action that is built in and that somebody may have meant by another name.
fn meant(action: &str) -> Option<&'static str> {
    let near = |ours: &str| {
        action != ours
            && (action.eq_ignore_ascii_case(ours)
                // Short words are near to too many others.
                || (ours.len() > 4 && strsim::osa_distance(action, ours) == 1))
    };
    let built_in = [Rule::SHELL, "call", "output"].into_iter();
    built_in.chain(Rule::PATH_ACTIONS).find(|ours| near(ours))
}

fn never_matches(rule: &Rule) -> Option<String> {
    let resource = rule.resource().as_str();
    if rule.looks_at_arguments()
        && (rule.action() == Rule::SHELL || Rule::PATH_ACTIONS.contains(&rule.action()))
        && rule.effect() == Effect::Allow
    {
        return Some(
            "arguments are known only to the action \"call\" and to capabilities; move the condition to a rule of those".to_owned(),
        );
    }
    if let Some((_, ours)) = NAMES.iter().find(|(theirs, _)| *theirs == rule.action()) {
        return Some(format!("the action is \"{ours}\" here"));
    }
    match rule.action() {
        Rule::SHELL => shell(resource),
        "call" if resource.starts_with("mcp__") => {
            Some("a tool of a server is written \"server/tool\"".to_owned())
        }
        action if Rule::PATH_ACTIONS.contains(&action) => {
            let windows = resource.contains('\\') && !cfg!(windows);
            windows.then(|| "folders are separated by \"/\"".to_owned())
        }
        _ => None,
    }
}

fn shell(resource: &str) -> Option<String> {
    let words: Vec<&str> = resource.split(' ').collect();
    if words.iter().any(|word| OPERATORS.contains(word)) {
        return Some(
            "a line is judged command by command, and no command has an operator among its words; write a rule for each command".to_owned(),
        );
    }
    if resource.starts_with(' ') || (resource.ends_with(' ') && !resource.ends_with(" *")) {
        return Some("no command starts or ends with a blank; remove it".to_owned());
    }
    if resource.contains("  ") {
        return Some("one blank stands between two words; remove the other".to_owned());
    }
    let assigns = words.first().is_some_and(|word| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    });
    if assigns {
        return Some("an assignment before a command is no word of it; remove it".to_owned());
    }
    let quoted = |word: &&str| word.len() > 1 && (word.starts_with('"') || word.starts_with('\''));
    if words.iter().any(quoted) {
        return Some(
            "quotes are gone before a command is matched; write the word without".to_owned(),
        );
    }
    None
}

const OPERATORS: &[&str] = &[
    "&&", "||", ";", "|", "&", ">", ">>", "<", "2>", "2>&1", "|&",
];

/// Actions as other programs call them, and the word for them here.
const NAMES: &[(&str, &str)] = &[
    ("bash", "shell"),
    ("Bash", "shell"),
    ("exec", "shell"),
    ("run", "shell"),
    ("edit", "write"),
    ("Edit", "write"),
    ("Write", "write"),
    ("Read", "read"),
    ("external_directory", "external"),
    ("mcp", "call"),
    ("tool", "call"),
    ("tool_call", "call"),
];
