//! Walking lists, pipelines and control flow, and the folder that each part runs in.

use super::alias;
use super::folder::{After, Folders};
use super::reading::Stop;
use super::tree::{Chain, Command, Compound, Joint, List, Pipeline, Redirect, Word};
use super::walk::{Scope, Walker};

impl Walker {
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

    pub(super) fn chain(&mut self, chain: &Chain, start: Folders, scope: Scope<'_>) -> After {
        if self.is_spent() {
            return After::same(start);
        }
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
}
