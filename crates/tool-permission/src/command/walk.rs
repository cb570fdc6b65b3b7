//! From the tree of a line to what it would run.

use std::ops::Range;
use std::path::Path;

use super::alias::{self, Aliases};
use super::analysis::{CommandAnalysis, FolderUse};
use super::field::CommandWord;
use super::folder::{After, Folders, Place};
use super::parser::Script;
use super::reading::{MOST_DEPTH, Stop};
use super::shell::Dialect;
use super::tree::{Chain, Command, Compound, Joint, List, Pipeline, Redirect, Word};
use super::variable;

/// Collects what a line would run, and follows the folder that it would run in.
pub(super) struct Walker {
    pub(super) found: CommandAnalysis,
    pub(super) aliases: Aliases,
    /// How deep the walk is, in trees and in texts.
    depth: usize,
    /// How much more may be collected.
    left: Budget,
    evaluates: bool,
    holds_code: bool,
    /// `HOME` is set, so that `~` is somewhere else.
    pub(super) moves_home: bool,
    /// `CDPATH` is set, so that `cd` may go anywhere.
    pub(super) searches: bool,
    pub(super) nullglob: bool,
    /// Some command changes the folder.
    moves: bool,
    /// Some command that runs at an unknown time changes the folder.
    moves_later: bool,
    /// What runs at an unknown time: functions and traps.
    later: Vec<Mark>,
}

/// The text that a tree belongs to.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    /// The bodies of its here-documents.
    pub(super) bodies: &'s [Word],
    pub(super) dialect: Dialect,
    /// The line of the outermost text that is being walked.
    pub(super) line: Option<usize>,
    /// The command stands alone in that line, so that it surely runs before the next.
    pub(super) alone: bool,
}

/// The places of redirects and folders that were found meanwhile.
#[derive(Clone, Debug)]
struct Mark {
    redirects: Range<usize>,
    folders: Range<usize>,
}

struct Budget {
    commands: usize,
    bytes: usize,
}

impl Walker {
    pub(super) fn new(found: CommandAnalysis) -> Self {
        Self {
            found,
            aliases: Aliases::default(),
            depth: 0,
            left: Budget {
                commands: MOST_COMMANDS,
                bytes: MOST_BYTES,
            },
            evaluates: false,
            holds_code: false,
            moves_home: false,
            searches: false,
            nullglob: false,
            moves: false,
            moves_later: false,
            later: Vec::new(),
        }
    }

    /// Walks a whole line.
    pub(super) fn line(mut self, line: &str, folder: &Path) -> CommandAnalysis {
        let script = self.read(line, Dialect::Bash);
        let scope = Scope {
            bodies: &script.bodies,
            dialect: Dialect::Bash,
            line: None,
            alone: false,
        };
        self.top_list(&script.list, Folders::at(folder), scope);
        for text in self.aliases.unused() {
            self.text(&text, Folders::unknown(), Dialect::Bash);
        }
        self.finish()
    }

    /// Reads and walks a text inside of the line.
    pub(super) fn text(&mut self, text: &str, start: Folders, dialect: Dialect) -> After {
        let script = self.read(text, dialect);
        let scope = Scope {
            bodies: &script.bodies,
            dialect,
            line: None,
            alone: false,
        };
        self.list(&script.list, start, scope)
    }

    /// Reads a text and takes over the facts of it.
    pub(super) fn read(&mut self, text: &str, dialect: Dialect) -> Script {
        let script = Script::read(text, self.depth);
        self.evaluates = self.evaluates || script.facts.evaluates;
        self.holds_code = self.holds_code || script.facts.holds_code;
        for name in &script.facts.sets {
            self.set(name);
        }
        self.found.hidden.extend(script.facts.hidden);
        self.found.hidden.extend(script.stop);
        if dialect != Dialect::Bash && script.facts.only_bash {
            self.hide(Stop("another shell reads a text differently"));
        }
        script
    }

    pub(super) fn hide(&mut self, why: Stop) {
        self.found.hidden.push(why);
    }

    /// Takes down that arithmetic or a subscript is evaluated.
    pub(super) fn evaluate(&mut self) {
        self.evaluates = true;
    }

    /// Takes down that a variable is set.
    pub(super) fn set(&mut self, name: &str) {
        if variable::loads_code(name) {
            let caution = format!("{name} is set, which may change what runs");
            self.found.cautions.push(caution);
        }
        self.moves_home = self.moves_home || name == "HOME";
        self.searches = self.searches || name == "CDPATH";
    }

    /// Takes the cost of a command; false if there is no room for it.
    pub(super) fn spend(&mut self, words: &[CommandWord]) -> bool {
        let bytes = words.iter().map(|word| word.shown().len() + 1).sum();
        let left = (
            self.left.commands.checked_sub(1),
            self.left.bytes.checked_sub(bytes),
        );
        if let (Some(commands), Some(bytes)) = left {
            self.left = Budget { commands, bytes };
            return true;
        }
        self.hide(Stop("it runs too much"));
        false
    }

    /// Goes one level down, if it is not too deep.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MOST_DEPTH {
            self.hide(Stop("it is nested too deep"));
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn top_list(&mut self, list: &List, start: Folders, scope: Scope<'_>) {
        let mut folders = start;
        for chain in &list.chains {
            let simple = matches!(chain.first.commands.as_slice(), [Command::Simple(_)]);
            let scope = Scope {
                line: Some(chain.line),
                alone: simple && chain.rest.is_empty() && !chain.background,
                ..scope
            };
            folders = self.chain(chain, folders, scope).any();
        }
    }

    pub(super) fn list(&mut self, list: &List, start: Folders, scope: Scope<'_>) -> After {
        let scope = Scope {
            alone: false,
            ..scope
        };
        let mut after = After::same(start);
        if !self.enter() {
            return after;
        }
        for chain in &list.chains {
            after = self.chain(chain, after.any(), scope);
        }
        self.leave();
        after
    }

    /// Walks what runs in a shell of its own.
    pub(super) fn lists<'l>(
        &mut self,
        lists: impl IntoIterator<Item = &'l List>,
        start: &Folders,
        scope: Scope<'_>,
    ) {
        for list in lists {
            self.list(list, start.clone(), scope);
        }
    }

    fn words(&mut self, words: &[Word], start: &Folders, scope: Scope<'_>) {
        self.lists(words.iter().flat_map(Word::runs), start, scope);
    }

    fn chain(&mut self, chain: &Chain, start: Folders, scope: Scope<'_>) -> After {
        let before = chain.background.then(|| start.clone());
        let mut after = self.pipeline(&chain.first, start, scope);
        for (joint, pipeline) in &chain.rest {
            after = match joint {
                Joint::And => {
                    let next = self.pipeline(pipeline, after.ok, scope);
                    After {
                        ok: next.ok,
                        failed: after.failed.or(next.failed),
                    }
                }
                Joint::Or => {
                    let next = self.pipeline(pipeline, after.failed, scope);
                    After {
                        ok: after.ok.or(next.ok),
                        failed: next.failed,
                    }
                }
            };
        }
        match before {
            Some(before) => After::same(before),
            None => after,
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, start: Folders, scope: Scope<'_>) -> After {
        let after = match pipeline.commands.as_slice() {
            [command] => self.command(command, start, scope),
            commands => {
                for command in commands {
                    self.command(command, start.clone(), scope);
                }
                After::same(start)
            }
        };
        match pipeline.negated {
            true => After {
                ok: after.failed,
                failed: after.ok,
            },
            false => after,
        }
    }

    fn command(&mut self, command: &Command, start: Folders, scope: Scope<'_>) -> After {
        match command {
            Command::Simple(simple) => self.simple(simple, start, scope),
            Command::Compound(compound, redirects) => {
                self.redirects(redirects, &start, scope);
                self.compound(compound, start, scope)
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect], start: &Folders, scope: Scope<'_>) {
        for redirect in redirects {
            self.redirect(redirect, start, scope);
        }
    }

    fn compound(&mut self, compound: &Compound, start: Folders, scope: Scope<'_>) -> After {
        match compound {
            Compound::Group(list) => self.list(list, start, scope),
            Compound::Subshell(list) => {
                self.list(list, start.clone(), scope);
                After::same(start)
            }
            Compound::If(branches, otherwise) => {
                self.branches(branches, otherwise.as_ref(), start, scope)
            }
            Compound::While(condition, body) => self.repeat(Some(condition), body, start, scope),
            Compound::For(name, words, body) => {
                self.set(name);
                self.words(words, &start, scope);
                self.repeat(None, body, start, scope)
            }
            Compound::Count(runs, body) => {
                self.lists(runs, &start, scope);
                self.repeat(None, body, start, scope)
            }
            Compound::Case(subject, arms) => {
                self.words(std::slice::from_ref(subject), &start, scope);
                let mut after = start.clone();
                for (patterns, body) in arms {
                    self.words(patterns, &start, scope);
                    after = after.or(self.list(body, start.clone(), scope).any());
                }
                After::same(after)
            }
            Compound::Function(name, body) => {
                if alias::is_needed(name) {
                    self.hide(Stop("a word that the shell needs is a function"));
                }
                self.later(|walker| walker.command(body, start.clone(), scope).any());
                After::same(start)
            }
            Compound::Coprocess(command) => {
                self.command(command, start.clone(), scope);
                After::same(start)
            }
            Compound::Arithmetic(runs) => {
                self.lists(runs, &start, scope);
                After::same(start)
            }
            Compound::Test(words) => {
                self.words(words, &start, scope);
                After::same(start)
            }
        }
    }

    fn branches(
        &mut self,
        branches: &[(List, List)],
        otherwise: Option<&List>,
        start: Folders,
        scope: Scope<'_>,
    ) -> After {
        let mut state = start;
        let mut after = Folders::never();
        for (condition, body) in branches {
            let tested = self.list(condition, state, scope);
            after = after.or(self.list(body, tested.ok, scope).any());
            state = tested.failed;
        }
        if let Some(list) = otherwise {
            state = self.list(list, state, scope).any();
        }
        After::same(after.or(state))
    }

    /// A loop. If a round may end in another folder than it began, the next round begins there.
    fn repeat(
        &mut self,
        condition: Option<&List>,
        body: &List,
        start: Folders,
        scope: Scope<'_>,
    ) -> After {
        let mark = self.mark();
        let tested = match condition {
            Some(condition) => self.list(condition, start.clone(), scope).any(),
            None => start.clone(),
        };
        let after = self.list(body, tested.clone(), scope).any().or(tested);
        if after.are_among(&start) {
            return After::same(start);
        }
        let mark = self.since(&mark);
        self.blur(&mark);
        After::same(Folders::unknown())
    }

    /// What runs some time later, perhaps in another folder.
    pub(super) fn later(&mut self, walk: impl FnOnce(&mut Self) -> Folders) {
        let mark = self.mark();
        let moved = std::mem::replace(&mut self.moves, false);
        walk(self);
        self.moves_later = self.moves_later || self.moves;
        self.moves = self.moves || moved;
        let mark = self.since(&mark);
        self.later.push(mark);
    }

    /// Takes down that a command changes the folder.
    pub(super) fn moves(&mut self, to: &Folders, shown: &str) {
        self.moves = true;
        self.visits(to.itself(), shown);
    }

    /// Takes down that a command runs in a folder.
    pub(super) fn visits(&mut self, place: Place, shown: &str) {
        self.found.folders.push(FolderUse {
            place,
            shown: shown.to_owned(),
        });
    }

    fn mark(&self) -> Mark {
        let (redirects, folders) = (self.found.redirects.len(), self.found.folders.len());
        Mark {
            redirects: redirects..redirects,
            folders: folders..folders,
        }
    }

    fn since(&self, mark: &Mark) -> Mark {
        Mark {
            redirects: mark.redirects.start..self.found.redirects.len(),
            folders: mark.folders.start..self.found.folders.len(),
        }
    }

    fn blur(&mut self, mark: &Mark) {
        let redirects = self.found.redirects.get_mut(mark.redirects.clone());
        let places = redirects.into_iter().flatten().map(|one| &mut one.place);
        places.for_each(Place::blur);
        let folders = self.found.folders.get_mut(mark.folders.clone());
        let places = folders.into_iter().flatten().map(|one| &mut one.place);
        places.for_each(Place::blur);
    }

    fn finish(mut self) -> CommandAnalysis {
        if self.evaluates && self.holds_code {
            self.hide(Stop("arithmetic may run what a text holds"));
        }
        if self.moves_later {
            let all = Mark {
                redirects: 0..self.found.redirects.len(),
                folders: 0..self.found.folders.len(),
            };
            self.blur(&all);
        } else if self.moves {
            for mark in std::mem::take(&mut self.later) {
                self.blur(&mark);
            }
        }
        if self.moves_home {
            let redirects = self.found.redirects.iter_mut().map(|one| &mut one.place);
            let folders = self.found.folders.iter_mut().map(|one| &mut one.place);
            redirects.chain(folders).for_each(Place::blur_home);
        }
        if self.nullglob {
            let calls = self.found.commands.iter_mut();
            let words = calls.flat_map(|call| call.words.iter_mut());
            words.for_each(CommandWord::forget_glob);
        }
        self.found.unite();
        self.found
    }
}

/// As many as no line that a person could judge has.
const MOST_COMMANDS: usize = 4096;

const MOST_BYTES: usize = 1024 * 1024;
