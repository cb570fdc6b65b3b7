//! The ruling on a line.

use tool_core::{Decision, Ruling};

use super::analysis::{Call, CommandAnalysis, CommandRedirect, FolderUse};
use super::call;
use super::field::CommandWord;
use super::folder::Place;
use super::runner::base_name;
use crate::judge::{Judge, strictest};
use crate::subject::Subject;
use crate::{Effect, Pattern, Rule};

/// One part of a line, as people see it, and the ruling on it.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) shown: String,
    pub(crate) kind: PartKind,
    pub(crate) ruling: Ruling,
}

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    Command,
    File,
    Folder,
    /// What stands against the line as a whole.
    Line,
}

/// Rules on a whole line: deny beats ask beats allow, over all its parts.
pub(super) fn rule(judge: &Judge<'_>, action: &str, analysis: &CommandAnalysis) -> Ruling {
    let parts = parts(judge, action, analysis).into_iter();
    strictest(parts.map(|part| match part.kind {
        PartKind::Line => part.ruling,
        _ => of(&part.shown, &part.ruling),
    }))
}

/// The rulings on all parts of a line; there is always one.
pub(super) fn parts(judge: &Judge<'_>, action: &str, analysis: &CommandAnalysis) -> Vec<Part> {
    let line = |ruling| Part {
        shown: "the line".to_owned(),
        kind: PartKind::Line,
        ruling,
    };
    let nothing = Subject::no_words();
    if let Some(rule) = judge.certain(Effect::Deny, action, &nothing) {
        return vec![line(rule.ruling())];
    }
    let opaque = analysis
        .hidden
        .map(|stop| Ruling::new(Decision::Ask, format!("the line can't be read: {}", stop.0)));
    let cautions = analysis
        .cautions
        .iter()
        .map(|caution| Ruling::new(Decision::Ask, caution.clone()));
    let calls = analysis.commands.iter().map(|call| Part {
        shown: cut(&call::shown(&call.words)),
        kind: PartKind::Command,
        ruling: command(judge, action, call),
    });
    let root = analysis.root();
    let files = analysis.redirects.iter().map(|redirect| Part {
        shown: cut(&format!("{} {}", redirect.operator, redirect.shown)),
        kind: PartKind::File,
        ruling: file(judge, analysis, redirect),
    });
    let folders = analysis.folders.iter().filter_map(|folder| {
        Some(Part {
            shown: folder.shown.clone(),
            kind: PartKind::Folder,
            ruling: external(judge, root, folder)?,
        })
    });

    let parts = opaque.into_iter().map(line).chain(calls).chain(files);
    let mut parts: Vec<_> = parts.chain(folders).chain(cautions.map(line)).collect();
    let runs_nothing = analysis.commands.is_empty() && analysis.redirects.is_empty();
    if runs_nothing
        && parts
            .iter()
            .all(|part| part.ruling.decision == Decision::Allow)
    {
        parts.push(line(Ruling::new(Decision::Ask, "the line runs nothing")));
    }
    parts
}

/// Whether a rule of that effect would match one of the commands.
pub(super) fn matches(analysis: &CommandAnalysis, effect: Effect, pattern: &Pattern) -> bool {
    analysis.commands.iter().any(|call| match effect {
        Effect::Allow => {
            (!call.holds_code || pattern.spells_out())
                && allow_forms(call)
                    .any(|words| variants(&words).all(|subject| pattern.covers(&subject)))
        }
        Effect::Ask | Effect::Deny => strict_subjects(call)
            .iter()
            .any(|subject| pattern.covers(subject)),
    })
}

/// The ruling on one command.
fn command(judge: &Judge<'_>, action: &str, call: &Call) -> Ruling {
    let subjects = strict_subjects(call);
    for effect in [Effect::Deny, Effect::Ask] {
        let mut all = subjects.iter();
        if let Some(rule) = all.find_map(|subject| judge.certain(effect, action, subject)) {
            return rule.ruling();
        }
        let mut unsure = subjects.iter().filter(|subject| judge.doubts(subject));
        if let Some(rule) = unsure.find_map(|subject| judge.possible(effect, action, subject)) {
            return rule.possible_ruling();
        }
    }
    if call.transparent {
        return Ruling::new(Decision::Allow, "only runs other commands");
    }
    for words in allow_forms(call) {
        let mut found = None;
        let covered = variants(&words).all(|subject| {
            found = match call.holds_code {
                true => judge.spelled(action, &subject),
                false => judge.certain(Effect::Allow, action, &subject),
            };
            found.is_some()
        });
        if let Some(rule) = found.filter(|_| covered) {
            return rule.ruling();
        }
    }
    if call.holds_code {
        return Ruling::new(
            Decision::Ask,
            "a program in a word is not read, and no rule without `*` spells it out",
        );
    }
    Ruling::new(Decision::Ask, "no rule")
}

/// The words in every form that allow rules are tried on.
fn allow_forms(call: &Call) -> impl Iterator<Item = Vec<CommandWord>> {
    let skipped = call.subcommand.map(|at| skip(&call.words, at));
    std::iter::once(call.words.clone()).chain(skipped)
}

/// The ruling on a file that a redirect opens.
fn file(judge: &Judge<'_>, analysis: &CommandAnalysis, redirect: &CommandRedirect) -> Ruling {
    let root = analysis.root();
    let actions = [("read", redirect.reads), ("write", redirect.writes)];
    let actions = actions.iter().filter(|(_, does)| *does);
    let rulings = actions.flat_map(|(action, _)| match &redirect.place {
        Place::Unknown => {
            let unknown = unknown_path();
            vec![
                judge.subject(action, &unknown),
                judge.subject(Rule::EXTERNAL, &unknown),
            ]
        }
        known => known
            .paths()
            .map(|path| judge.path(action, root, root, path))
            .collect(),
    });
    strictest(rulings)
}

/// The ruling on going to a folder, if that has to be asked.
fn external(judge: &Judge<'_>, root: &std::path::Path, folder: &FolderUse) -> Option<Ruling> {
    if folder.place == Place::Unknown {
        return Some(judge.subject(Rule::EXTERNAL, &unknown_path()));
    }
    let paths = folder.place.paths();
    let mut rulings = paths
        .filter_map(|path| judge.folder(root, root, path))
        .peekable();
    rulings.peek().is_some().then(|| strictest(rulings))
}

fn unknown_path() -> Subject {
    let mut subject = Subject::path("");
    subject.push_unknown();
    subject
}

/// The words in every form that deny and ask rules are tried on.
fn strict_subjects(call: &Call) -> Vec<Subject> {
    let mut forms = vec![call.words.clone()];
    forms.extend(call.subcommand.map(|at| skip(&call.words, at)));
    let program = call.words.first().and_then(CommandWord::known);
    if let Some(program) = program.filter(|program| program.contains('/')) {
        let base = CommandWord::literal(base_name(program));
        for form in forms.clone() {
            let rest = form.into_iter().skip(1);
            forms.push(std::iter::once(base.clone()).chain(rest).collect());
        }
    }
    let mut subjects = Vec::new();
    for form in &forms {
        subjects.push(subject(form, &|_| Home::Written));
        if form.iter().any(CommandWord::is_home) {
            subjects.push(subject(form, &|_| Home::Absolute));
        }
    }
    subjects
}

/// The words with the options before the subcommand left out.
fn skip(words: &[CommandWord], subcommand: usize) -> Vec<CommandWord> {
    let program = words.first().into_iter();
    let rest = words.get(subcommand..).unwrap_or_default();
    program.chain(rest).cloned().collect()
}

/// The words as allow rules have to cover them: with each of those that may be no word at all, and
/// without it.
fn variants(words: &[CommandWord]) -> impl Iterator<Item = Subject> {
    let vanishing: Vec<usize> = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| word.may_vanish().then_some(at))
        .collect();
    let without = move |gone: &[usize]| {
        let left = words.iter().enumerate();
        let left = left.filter(|(at, _)| !gone.contains(at));
        let left: Vec<CommandWord> = left.map(|(_, word)| word.clone()).collect();
        subject(&left, &|_| Home::Written)
    };
    let singly: Vec<Subject> = match vanishing.len() {
        0 | 1 => Vec::new(),
        _ => vanishing.iter().map(|at| without(&[*at])).collect(),
    };
    let all = (!vanishing.is_empty()).then(|| without(&vanishing));
    std::iter::once(without(&[])).chain(singly).chain(all)
}

/// How a `~` at the start of a word is read.
enum Home {
    /// As it was written.
    Written,
    /// As some path from the root.
    Absolute,
}

fn subject(words: &[CommandWord], home: &dyn Fn(&CommandWord) -> Home) -> Subject {
    let mut subject = Subject::no_words();
    let mut starts = true;
    for word in words {
        if word.may_vanish() {
            // An unknown program takes the border behind it with it.
            if !starts {
                subject.push_loose_border();
                starts = false;
            }
            subject.push_unknown();
            continue;
        }
        if !starts {
            subject.push_border();
        }
        starts = false;
        match (word.is_home(), home(word)) {
            (true, Home::Absolute) => {
                subject.push_text("/");
                subject.push_unknown();
            }
            _ => {
                subject.push_text(word.beginning());
                if !word.is_known() {
                    subject.push_unknown();
                }
            }
        }
    }
    subject
}

/// A ruling with the part that it is about.
fn of(part: &str, ruling: &Ruling) -> Ruling {
    let told = format!("{part}: {}", ruling.because);
    ruling.clone().told_as(told)
}

/// The text of a part in one line of bearable length.
fn cut(text: &str) -> String {
    let mut cut: String = text
        .chars()
        .take(MOST_SHOWN)
        .flat_map(|char| match char.is_control() {
            true => char.escape_default().collect(),
            false => vec![char],
        })
        .collect();
    if text.chars().nth(MOST_SHOWN).is_some() {
        cut.push('…');
    }
    cut
}

/// In characters.
const MOST_SHOWN: usize = 100;
