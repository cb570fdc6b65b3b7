//! From the tree of a line to what it would run.

use std::ops::Range;
use std::path::Path;

use super::alias::Aliases;
use super::analysis::{CommandAnalysis, FolderUse};
use super::builtin;
use super::field::CommandWord;
use super::folder::{After, Folders, Place};
use super::parser::Script;
use super::reading::{MOST_DEPTH, Stop, holds_code, is_part_of_code};
use super::shell::Dialect;
use super::tree::{Command, List, Word};
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
    /// How many literal texts would run a command if they were evaluated.
    holding_code: usize,
    /// How many would do so behind a bracket, and whether there is one.
    parts_of_code: usize,
    opens_code: bool,
    /// `HOME` is set, so that `~` is somewhere else.
    pub(super) moves_home: bool,
    /// `CDPATH` is set, so that `cd` may go anywhere.
    pub(super) searches: bool,
    pub(super) nullglob: bool,
    /// `IFS` is set, and an unquoted `$IFS` is taken for a blank.
    sets_ifs: bool,
    takes_ifs: bool,
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
pub(super) struct Mark {
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
            holding_code: 0,
            parts_of_code: 0,
            opens_code: false,
            moves_home: false,
            searches: false,
            nullglob: false,
            sets_ifs: false,
            takes_ifs: false,
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
        self.found.steps += script.facts.steps;
        self.evaluates = self.evaluates || script.facts.evaluates;
        self.takes_ifs = self.takes_ifs || script.facts.takes_ifs;
        self.holding_code += script.facts.holding_code;
        self.parts_of_code += script.facts.parts_of_code;
        self.opens_code = self.opens_code || script.facts.opens_code;
        for name in &script.facts.sets {
            self.set(name);
        }
        if let Some(stop) = script.facts.hidden.or(script.stop) {
            self.hide(stop);
        }
        if dialect != Dialect::Bash && script.facts.only_bash {
            self.hide(Stop("another shell reads a text differently"));
        }
        script
    }

    pub(super) fn hide(&mut self, why: Stop) {
        self.found.hidden.get_or_insert(why);
    }

    /// Takes down that arithmetic or a subscript is evaluated, and whether it holds an expansion.
    pub(super) fn evaluate(&mut self, expands: bool) {
        self.evaluates = true;
        self.opens_code = self.opens_code || expands;
    }

    /// Takes down that a literal text is read as a program, so that nothing in it is overlooked.
    pub(super) fn excuse(&mut self, text: &str) {
        // With aliases a text may be read more often than it was written.
        if !self.aliases.is_empty() {
            return;
        }
        if holds_code(text) {
            self.holding_code = self.holding_code.saturating_sub(1);
        } else if is_part_of_code(text) {
            self.parts_of_code = self.parts_of_code.saturating_sub(1);
        }
    }

    /// Takes down that a variable is set to something that is not looked at.
    pub(super) fn set(&mut self, name: &str) {
        if variable::is_prompt(name) {
            self.hide(Stop("a prompt runs what it holds"));
        }
        self.take_set(name);
    }

    /// Takes down that a variable is set, whose value the caller has looked at.
    pub(super) fn take_set(&mut self, name: &str) {
        if variable::loads_code(name) {
            let caution = format!("{name} is set, which may change what runs");
            self.found.cautions.push(caution);
        }
        if variable::redefines(name) {
            self.hide(Stop("a variable says what other words run"));
        }
        self.sets_ifs = self.sets_ifs || name == "IFS";
        self.moves_home = self.moves_home || name == "HOME";
        self.searches = self.searches || name == "CDPATH";
    }

    /// Takes down that a builtin may set a variable that matters, of that name or one that is not
    /// known.
    pub(super) fn may_set(&mut self, name: &str) {
        if variable::is_prompt(builtin::name_of(name)) {
            self.hide(Stop("a prompt runs what it holds"));
        }
        if variable::redefines(name) {
            self.hide(Stop("a variable says what other words run"));
        }
        self.sets_ifs = true;
        let caution = format!("{name} may be set, which may change what runs");
        self.found.cautions.push(caution);
    }

    /// Takes the cost of a command; false if there is no room for it, or for an earlier one.
    pub(super) fn spend(&mut self, words: &[CommandWord]) -> bool {
        if self.is_spent() {
            return false;
        }
        let bytes = words.iter().map(|word| word.shown().len() + 1).sum();
        self.found.steps += bytes;
        if let (commands @ 1.., Some(bytes)) =
            (self.left.commands - 1, self.left.bytes.checked_sub(bytes))
        {
            self.left = Budget { commands, bytes };
            return true;
        }
        self.left.commands = 0;
        self.hide(Stop("it runs too much"));
        false
    }

    /// Whether there is no room for more.
    pub(super) fn is_spent(&self) -> bool {
        self.left.commands == 0
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
            // A redirect may fail, and the command with it.
            let surely = match chain.first.commands.as_slice() {
                [Command::Simple(simple)] => simple.redirects.is_empty(),
                _ => false,
            };
            let scope = Scope {
                line: Some(chain.line),
                alone: surely && chain.rest.is_empty() && !chain.background,
                ..scope
            };
            folders = self.chain(chain, folders, scope).any();
        }
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

    pub(super) fn mark(&self) -> Mark {
        let (redirects, folders) = (self.found.redirects.len(), self.found.folders.len());
        Mark {
            redirects: redirects..redirects,
            folders: folders..folders,
        }
    }

    pub(super) fn since(&self, mark: &Mark) -> Mark {
        Mark {
            redirects: mark.redirects.start..self.found.redirects.len(),
            folders: mark.folders.start..self.found.folders.len(),
        }
    }

    pub(super) fn blur(&mut self, mark: &Mark) {
        let redirects = self.found.redirects.get_mut(mark.redirects.clone());
        let places = redirects.into_iter().flatten().map(|one| &mut one.place);
        places.for_each(Place::blur);
        let folders = self.found.folders.get_mut(mark.folders.clone());
        let places = folders.into_iter().flatten().map(|one| &mut one.place);
        places.for_each(Place::blur);
    }

    fn finish(mut self) -> CommandAnalysis {
        let joined = self.parts_of_code > 0 && self.opens_code;
        if self.evaluates && (self.holding_code > 0 || joined) {
            self.hide(Stop("arithmetic may run what a text holds"));
        }
        if self.sets_ifs && self.takes_ifs {
            self.hide(Stop("what separates words is known only when running"));
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
