//! What stands around the words of a command: the files that it opens, the variables that it sets.

use super::analysis::{CommandAssignment, CommandRedirect};
use super::field::{self, CommandWord, Rest};
use super::folder::Folders;
use super::reading::Stop;
use super::tree::{
    Assignment, Descriptor, Expansion, Operator, Piece, Redirect, Target, Value, Word,
};
use super::variable;
use super::walk::{Scope, Walker};

impl Walker {
    /// A redirect: the file that it opens, and what its target runs.
    pub(super) fn redirect(&mut self, redirect: &Redirect, start: &Folders, scope: Scope<'_>) {
        if let Descriptor::Variable(name) = &redirect.descriptor {
            self.set(name);
        }
        let word = match &redirect.target {
            Target::Word(word) => word,
            Target::Body(at) => match scope.bodies.get(*at) {
                Some(body) => body,
                None => return self.hide(Stop("a here-document has no body")),
            },
        };
        self.lists(word.runs(), start, scope);
        let copies = matches!(redirect.operator, Operator::CopyIn | Operator::CopyOut);
        if copies
            && !word
                .literal()
                .is_some_and(|text| text.bytes().all(is_inert))
        {
            // bash expands such a target twice, so that quotes protect nothing in it.
            self.hide(Stop("a copied descriptor is expanded twice"));
        }
        let (reads, writes) = match redirect.operator {
            Operator::HereDoc | Operator::HereString | Operator::CopyIn => return,
            Operator::Read => (true, false),
            Operator::ReadWrite => (true, true),
            _ => (false, true),
        };
        let target = field::single(word);
        if is_harmless(redirect.operator, word, &target) {
            return;
        }
        let file = CommandRedirect::new(
            redirect.operator.as_str(),
            (reads, writes),
            start.place(&target),
            target.shown().to_owned(),
            self.found.root(),
        );
        self.found.redirects.push(file);
    }

    pub(super) fn assignment(
        &mut self,
        assignment: &Assignment,
        start: &Folders,
        scope: Scope<'_>,
    ) {
        let words = assignment.value.words().iter();
        let runs = assignment
            .subscript
            .iter()
            .chain(words.flat_map(Word::runs));
        self.lists(runs, start, scope);
        let value = match &assignment.value {
            Value::Word(word) => field::value(word),
            Value::Array(_) => CommandWord::unknown("(..)", Rest::Part),
        };
        self.take_set(&assignment.name);
        if variable::is_prompt(&assignment.name)
            && (!value.is_known() || variable::prompt_runs(value.beginning()))
        {
            self.hide(Stop("a prompt runs what it holds"));
        }
        let name = assignment.name.clone();
        self.found
            .assignments
            .push(CommandAssignment::new(name, value));
    }
}

/// Whether a redirect gives the standard input.
pub(super) fn is_input(redirect: &Redirect) -> bool {
    match &redirect.descriptor {
        Descriptor::Number(number) => number.trim_start_matches('0').is_empty(),
        Descriptor::Variable(_) => false,
        Descriptor::Default => matches!(
            redirect.operator,
            Operator::Read
                | Operator::ReadWrite
                | Operator::CopyIn
                | Operator::HereDoc
                | Operator::HereString
        ),
    }
}

/// The text that a here-document or here-string gives.
pub(super) fn text_of(redirect: &Redirect, scope: Scope<'_>) -> Option<CommandWord> {
    let word = match (&redirect.operator, &redirect.target) {
        (Operator::HereDoc, Target::Body(at)) => scope.bodies.get(*at)?,
        (Operator::HereString, Target::Word(word)) => word,
        _ => return None,
    };
    Some(match word.literal() {
        Some(text) => CommandWord::literal(text),
        None => CommandWord::unknown("", Rest::Part),
    })
}

/// Whether a redirect opens no file.
fn is_harmless(operator: Operator, word: &Word, target: &CommandWord) -> bool {
    if let [Piece::Expansion(Expansion { spelled, .. })] = word.pieces.as_slice()
        && spelled.starts_with(['<', '>'])
    {
        return true;
    }
    let Some(text) = target.known() else {
        return false;
    };
    let digits = text.strip_suffix('-').unwrap_or(text);
    let copies = operator == Operator::CopyOut && digits.bytes().all(|byte| byte.is_ascii_digit());
    copies || DEVICES.contains(&text) || is_descriptor(text)
}

/// Whether a character means the same however often it is expanded.
fn is_inert(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./,:+@%=".contains(&byte)
}

/// Whether a path is a descriptor that is already open.
fn is_descriptor(path: &str) -> bool {
    path.strip_prefix("/dev/fd/")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

const DEVICES: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
