//! One simple command: what runs, and what that runs in turn.

use super::alias;
use super::analysis::Call;
use super::field::{self, CommandWord};
use super::folder::{After, Folders};
use super::opening::{is_input, text_of};
use super::parser::Script;
use super::reading::Stop;
use super::runner::base_name;
use super::shell::{self, Dialect, Program};
use super::tree::{Simple, Word};
use super::walk::{Scope, Walker};
use super::wrapper::{self, Inner, Unwrapped};
use super::{builtin, git, git_runs, interpreter, variable};

/// How a command is called.
#[derive(Clone)]
pub(super) struct How<'s> {
    pub(super) start: Folders,
    /// What its standard input is, if the line says so.
    pub(super) input: Option<CommandWord>,
    /// The shell itself runs it, so that a builtin is one.
    pub(super) in_shell: bool,
    pub(super) scope: Scope<'s>,
}

impl Walker {
    /// A simple command with its assignments, words and redirects.
    pub(super) fn simple(&mut self, simple: &Simple, start: Folders, scope: Scope<'_>) -> After {
        for assignment in &simple.assignments {
            self.assignment(assignment, &start, scope);
        }
        self.lists(simple.words.iter().flat_map(Word::runs), &start, scope);
        let mut input = None;
        for redirect in &simple.redirects {
            self.redirect(redirect, &start, scope);
            if is_input(redirect) {
                input = text_of(redirect, scope);
            }
        }

        let mut words = Vec::new();
        for word in &simple.words {
            match field::fields(word) {
                Ok(fields) => words.extend(fields),
                Err(stop) => {
                    self.hide(stop);
                    return After::same(Folders::unknown());
                }
            }
        }
        if words.is_empty() {
            return After::same(start);
        }
        let how = How {
            start,
            input,
            in_shell: true,
            scope,
        };
        self.call(&words, how)
    }

    /// A command with all its words, and whatever it runs in turn.
    fn call(&mut self, words: &[CommandWord], how: How<'_>) -> After {
        let Some(program) = words.first().cloned() else {
            return After::same(how.start);
        };
        if how.in_shell {
            let expanded = self.aliases.expand(&program, how.scope.line);
            for text in &expanded.texts {
                self.alias(text, &program, words, &how);
            }
            if expanded.certain {
                return After::same(how.start);
            }
        }
        if !self.spend(words) {
            return After::same(Folders::unknown());
        }
        let at = self.found.commands.len();
        self.found.commands.push(Call {
            words: words.to_vec(),
            transparent: false,
            subcommand: None,
            holds_code: false,
        });
        let Some(written) = program.known() else {
            self.hide(Stop("the program is known only when running"));
            return After::same(Folders::unknown());
        };
        if how.scope.dialect.reads_differently(written) {
            self.hide(Stop("another shell reads a text differently"));
        }
        self.note_effects(written, words, &how);
        if how.in_shell
            && let Some(after) = self.builtin(written, words, &how)
        {
            return after;
        }

        let name = base_name(written);
        let before = self.parts();
        let (transparent, after) = if let Some(dialect) = Dialect::of(name) {
            self.shell(words, dialect, &how);
            (true, After::same(how.start))
        } else if let Some(unwrapped) = wrapper::unwrap(name, words) {
            self.unwrapped(unwrapped, &how)
        } else {
            match interpreter::program(name, words) {
                Ok(holds_code) => {
                    if let Some(call) = self.found.commands.get_mut(at) {
                        call.holds_code = holds_code;
                    }
                }
                Err(stop) => self.hide(stop),
            }
            if name == "git" {
                self.git(at, words, &how);
            }
            (false, After::same(how.start))
        };
        let runs_something = self.parts() > before;
        if let Some(call) = self.found.commands.get_mut(at) {
            call.transparent = transparent && runs_something && is_trusted(written);
        }
        after
    }

    /// How much was found so far.
    fn parts(&self) -> usize {
        self.found.commands.len() + self.found.redirects.len()
    }

    fn note_effects(&mut self, name: &str, words: &[CommandWord], how: &How<'_>) {
        let effects = builtin::effects(name, words);
        if let Some(stop) = effects.hidden {
            self.hide(stop);
        }
        if let Some(name) = effects.sets {
            self.may_set(&name);
        }
        if effects.evaluates {
            self.evaluate(effects.opens_code);
        }
        self.nullglob = self.nullglob || effects.nullglob;
        let declares = matches!(
            name,
            "export" | "declare" | "typeset" | "local" | "readonly"
        );
        for word in words.iter().skip(1).filter(|_| declares && how.in_shell) {
            if let Some((name, value)) = word.beginning().split_once('=') {
                self.moves_home = self.moves_home || name == "HOME";
                self.searches = self.searches || name == "CDPATH";
                if variable::is_prompt(builtin::name_of(name))
                    && (!word.is_known() || variable::prompt_runs(value))
                {
                    self.hide(Stop("a prompt runs what it holds"));
                }
            }
        }
    }

    /// The text of an alias, with the words of the call behind it.
    fn alias(&mut self, text: &str, name: &CommandWord, words: &[CommandWord], how: &How<'_>) {
        if !self.spend(words) || !self.enter() {
            return;
        }
        let mut script: Script = self.read(text, how.scope.dialect);
        let rest = words.get(1..).unwrap_or_default();
        match alias::append(&mut script.list, rest) {
            Err(stop) => self.hide(stop),
            Ok(()) => {
                self.aliases.open(name.beginning());
                let scope = Scope {
                    bodies: &script.bodies,
                    line: None,
                    alone: false,
                    ..how.scope
                };
                let start = how.start.clone();
                self.later(|walker| walker.list(&script.list, start, scope).any());
                self.aliases.close();
            }
        }
        self.leave();
    }

    fn shell(&mut self, words: &[CommandWord], dialect: Dialect, how: &How<'_>) {
        let text = match shell::program(words) {
            Ok(Program::Text(text)) => text,
            Ok(Program::Nothing) => return,
            Ok(Program::Input) => match &how.input {
                Some(text) => text.clone(),
                None => return self.hide(Stop("a shell reads its program from its input")),
            },
            Err(stop) => return self.hide(stop),
        };
        self.inner_text(&text, how.start.clone(), dialect);
    }

    fn inner_text(&mut self, text: &CommandWord, start: Folders, dialect: Dialect) {
        match text.known() {
            None => self.hide(Stop("the program of a shell is known only when running")),
            Some(text) => {
                self.excuse(text);
                if self.enter() {
                    self.text(text, start, dialect);
                    self.leave();
                }
            }
        }
    }

    /// What a wrapper runs: whether it needs no rule of its own, and the folder after it.
    fn unwrapped(&mut self, unwrapped: Result<Unwrapped, Stop>, how: &How<'_>) -> (bool, After) {
        let unwrapped = match unwrapped {
            Ok(unwrapped) => unwrapped,
            Err(stop) => {
                self.hide(stop);
                return (false, After::same(how.start.clone()));
            }
        };
        if let Some(stop) = unwrapped.hidden {
            self.hide(stop);
        }
        for word in &unwrapped.sets {
            let set = word.beginning().split_once('=');
            let (name, value) = set.unwrap_or_default();
            self.take_set(name);
            if variable::is_prompt(name) && (!word.is_known() || variable::prompt_runs(value)) {
                self.hide(Stop("a prompt runs what it holds"));
            }
        }
        let mut start = how.start.clone();
        if let Some(folder) = &unwrapped.folder {
            start = self.goes(&start, folder);
        }
        if unwrapped.elsewhere {
            start = Folders::unknown();
        }
        let mut after = After::same(how.start.clone());
        for inner in unwrapped.inner {
            match inner {
                Inner::Text(text, dialect) => self.inner_text(&text, start.clone(), dialect),
                Inner::Words(words) => {
                    if !self.enter() {
                        break;
                    }
                    let in_shell = how.in_shell && unwrapped.in_shell;
                    let how = How {
                        start: start.clone(),
                        in_shell,
                        ..how.clone()
                    };
                    let ended = self.call(&words, how);
                    if in_shell {
                        after = ended;
                    }
                    self.leave();
                }
            }
        }
        (unwrapped.transparent, after)
    }

    /// A program changes to a folder before it does anything.
    fn goes(&mut self, start: &Folders, folder: &CommandWord) -> Folders {
        let to = start.go(folder);
        self.visits(start.place(folder), folder.shown());
        to
    }

    fn git(&mut self, at: usize, words: &[CommandWord], how: &How<'_>) {
        let call = git::call(words);
        let mut folders = how.start.clone();
        for folder in &call.folders {
            folders = self.goes(&folders, folder);
        }
        if call.names_program {
            let caution = "an option of git may name a program".to_owned();
            self.found.cautions.push(caution);
        }
        if call.strange {
            self.hide(Stop("an option of git is not known"));
        }
        if let Some(found) = self.found.commands.get_mut(at) {
            found.subcommand = call.skipped.filter(|skipped| *skipped > 1);
        }
        for text in &call.aliases {
            self.inner_text(text, Folders::unknown(), Dialect::Plain);
        }
        let behind = call.skipped.and_then(|at| words.get(at..));
        match git_runs::runs(behind.unwrap_or_default()) {
            Err(stop) => self.hide(stop),
            Ok((mut unwrapped, names_program)) => {
                if names_program {
                    let caution = "an option of git names a program".to_owned();
                    self.found.cautions.push(caution);
                }
                // From the top of the repository, wherever that is.
                unwrapped.elsewhere = unwrapped.elsewhere || !unwrapped.inner.is_empty();
                let how = How {
                    start: folders,
                    in_shell: false,
                    ..how.clone()
                };
                self.unwrapped(Ok(unwrapped), &how);
            }
        }
    }
}

/// Words joined by blanks, for people.
pub(super) fn shown(words: &[CommandWord]) -> String {
    let words: Vec<&str> = words.iter().map(CommandWord::shown).collect();
    words.join(" ")
}

/// Whether a program is surely the one of that name.
fn is_trusted(program: &str) -> bool {
    match program.rsplit_once('/') {
        None => true,
        Some((folder, _)) => FOLDERS.contains(&folder),
    }
}

const FOLDERS: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"];
