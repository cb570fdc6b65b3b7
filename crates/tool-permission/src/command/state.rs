//! Builtins that change the shell, or keep a text for later.

use std::path::Path;

use super::call::{How, shown};
use super::field::CommandWord;
use super::folder::{After, Folders};
use super::options::Spec;
use super::reading::Stop;
use super::walk::Walker;

impl Walker {
    /// Builtins that change the shell, or keep a text for later.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        words: &[CommandWord],
        how: &How<'_>,
    ) -> Option<After> {
        match name {
            "cd" | "pushd" => {
                let to = self.target(name, words, &how.start);
                let shown = shown(words);
                self.moves(&to, &shown);
                Some(After {
                    ok: to,
                    failed: how.start.clone(),
                })
            }
            "popd" => {
                self.moves(&Folders::unknown(), "popd");
                Some(After::same(Folders::unknown()))
            }
            "exit" => Some(After::same(Folders::never())),
            "eval" => {
                let mut texts = words.get(1..).unwrap_or_default();
                if let [first, rest @ ..] = texts
                    && first.known() == Some("--")
                {
                    texts = rest;
                }
                let known: Option<Vec<&str>> = texts.iter().map(CommandWord::known).collect();
                if let Some(known) = known
                    && self.enter()
                {
                    self.text(&known.join(" "), how.start.clone(), how.scope.dialect);
                    self.leave();
                }
                Some(After::same(Folders::unknown()))
            }
            "source" | "." => Some(After::same(Folders::unknown())),
            "trap" => {
                self.trap(words, how);
                Some(After::same(how.start.clone()))
            }
            "alias" => {
                let line = how.scope.line.filter(|_| how.scope.alone);
                if let Err(stop) = self.aliases.define(words, line) {
                    self.hide(stop);
                }
                Some(After::same(how.start.clone()))
            }
            "unalias" => {
                self.aliases.switch_off();
                Some(After::same(how.start.clone()))
            }
            "shopt" => {
                let texts: Vec<_> = words.iter().filter_map(CommandWord::known).collect();
                match (texts.as_slice(), how.scope.line) {
                    (["shopt", "-s", "expand_aliases"], Some(line)) if how.scope.alone => {
                        self.aliases.switch_on(line);
                    }
                    (texts, _) if texts.contains(&"expand_aliases") => self.aliases.switch_off(),
                    _ => {}
                }
                Some(After::same(how.start.clone()))
            }
            _ => None,
        }
    }

    /// The folders that `cd` or `pushd` goes to.
    fn target(&self, name: &str, words: &[CommandWord], start: &Folders) -> Folders {
        let Ok(scan) = CD.scan(words.get(1..).unwrap_or_default()) else {
            return Folders::unknown();
        };
        let physical = scan.has(&["-P"]);
        match scan.operands.as_slice() {
            [] if name == "cd" => Folders::at(Path::new("~")),
            [word] if !self.searches && !scan.has(&["-n"]) => match word.known() {
                None | Some("-") => Folders::unknown(),
                Some(text) if text.starts_with('+') => Folders::unknown(),
                // It goes up from where a link led to.
                Some(text) if physical && text.contains("..") => Folders::unknown(),
                Some(_) => start.go(word),
            },
            _ => Folders::unknown(),
        }
    }

    /// The text of a trap runs some time later.
    fn trap(&mut self, words: &[CommandWord], how: &How<'_>) {
        let scan = match TRAP.scan(words.get(1..).unwrap_or_default()) {
            Ok(scan) => scan,
            Err(stop) => return self.hide(stop),
        };
        if scan.operands.iter().any(CommandWord::may_vanish) {
            return self.hide(Stop("the text of a trap is known only when running"));
        }
        if scan.has(&["-l", "-p"]) || scan.operands.len() < 2 {
            return;
        }
        let Some(text) = scan.operands.first() else {
            return;
        };
        match text.known() {
            None => self.hide(Stop("the text of a trap is known only when running")),
            Some("-") => {}
            Some(text) => {
                self.excuse(text);
                if self.enter() {
                    let (start, dialect) = (how.start.clone(), how.scope.dialect);
                    self.later(|walker| walker.text(text, start, dialect).any());
                    self.leave();
                }
            }
        }
    }
}

const CD: Spec = Spec {
    flags: "LPen@",
    valued: "",
    attached: "",
    long_flags: &[],
    long_valued: &[],
    numbers: true,
};

const TRAP: Spec = Spec { flags: "lp", ..CD };
