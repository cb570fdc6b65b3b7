//! What one request is judged by.

use std::path::Path;

use tool_core::{Decision, Request, Ruling};

use crate::condition::Holds;
use crate::index::Index;
use crate::path::{Form, Place, Places};
use crate::saved::Approved;
use crate::subject::Subject;
use crate::{Effect, Pattern, Rule};

/// The rules as one request sees them, and the file system that its paths live in.
///
/// The analysers of commands and paths take their verdicts from here and never walk the rules
/// themselves.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    request: &'a Request<'a>,
    rules: &'a [&'a Index],
    saved: Saved<'a>,
    places: &'a Places,
}

/// The approvals that answer ask rules.
#[derive(Clone, Copy)]
pub(crate) enum Saved<'a> {
    /// None are looked at.
    None,
    /// Those that were saved, at that moment in milliseconds since 1970.
    Of(&'a Approved, u64),
    /// One that is for the whole request, whatever it names.
    Whole(&'a Rule),
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        request: &'a Request<'a>,
        rules: &'a [&'a Index],
        saved: Saved<'a>,
        places: &'a Places,
    ) -> Self {
        Self {
            request,
            rules,
            saved,
            places,
        }
    }

    /// All rules of all layers that hold for the request's session.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &'a Rule> + use<'a> {
        self.rules.iter().flat_map(|rules| rules.rules())
    }

    /// A rule of that effect that matches whatever the unknown parts of the subject are.
    ///
    /// A saved approval is an allow rule here, and hides the ask rules that are not sticky: it is
    /// a person's answer to just that question. It never hides a deny rule.
    ///
    /// Of several rules the one of the first file and line, so that shuffling changes no
    /// explanation either.
    pub(crate) fn certain(
        &self,
        effect: Effect,
        action: &str,
        subject: &Subject,
    ) -> Option<&'a Rule> {
        let saved = || self.saved(action, subject);
        match effect {
            Effect::Allow => self
                .configured(effect, action, subject, false)
                .or_else(saved),
            Effect::Ask => self.configured(effect, action, subject, saved().is_some()),
            Effect::Deny => self.configured(effect, action, subject, false),
        }
    }

    /// An allow rule, or a saved approval, that matches and has no `*`.
    pub(crate) fn spelled(&self, action: &str, subject: &Subject) -> Option<&'a Rule> {
        let rule = self.first(Effect::Allow, action, subject, |rule, pattern| {
            rule.resource().spells_out()
                && rule.applies_to(self.request) == Holds::Yes
                && subject.admits(pattern)
                && pattern.covers(subject)
        });
        rule.or_else(|| self.saved_as(action, subject, |rule| rule.resource().spells_out()))
    }

    /// A rule of that effect that matches for some value of the unknown parts of the subject.
    pub(crate) fn possible(
        &self,
        effect: Effect,
        action: &str,
        subject: &Subject,
    ) -> Option<&'a Rule> {
        self.first(effect, action, subject, |rule, pattern| {
            rule.applies_to(self.request) != Holds::No
                && subject.admits(pattern)
                && pattern.may_match(subject)
        })
    }

    /// Whether a rule may match the subject, depending on what is not known.
    pub(crate) fn doubts(&self, subject: &Subject) -> bool {
        !subject.is_known()
            || (!self.request.has_arguments()
                && self.rules.iter().any(|rules| rules.looks_at_arguments()))
    }

    /// The most preferred rule of all layers that passes the check.
    fn first(
        &self,
        effect: Effect,
        action: &str,
        subject: &Subject,
        check: impl Fn(&Rule, &Pattern) -> bool,
    ) -> Option<&'a Rule> {
        let mut found = None;
        for rules in self.rules {
            let first = rules.first(effect, action, subject, &check);
            found = match (found, first) {
                (Some(one), Some(other)) => Some(Rule::preferred(one, other)),
                (one, other) => one.or(other),
            };
        }
        found
    }

    /// The ruling on one subject: deny beats ask beats allow, and without a rule there is none.
    pub(crate) fn rule(&self, action: &str, subject: &Subject) -> Option<Ruling> {
        let names = std::slice::from_ref(subject);
        self.names(action, names, names)
    }

    /// The same, where no rule means to ask.
    pub(crate) fn subject(&self, action: &str, subject: &Subject) -> Ruling {
        self.rule(action, subject)
            .unwrap_or_else(|| no_rule(action))
    }

    /// The ruling on one thing with several names: those that deny and ask rules see, and those
    /// that allow rules see.
    fn names(&self, action: &str, strict: &[Subject], allow: &[Subject]) -> Option<Ruling> {
        let saved = allow.iter().find_map(|name| self.saved(action, name));
        for effect in [Effect::Deny, Effect::Ask] {
            let sticky = effect == Effect::Ask && saved.is_some();
            let find = |name: &Subject| self.configured(effect, action, name, sticky);
            if let Some(rule) = strict.iter().find_map(find) {
                return Some(rule.ruling());
            }
            let mut unsure = strict.iter().filter(|name| self.doubts(name));
            if let Some(rule) = unsure.find_map(|name| self.possible(effect, action, name)) {
                return Some(rule.possible_ruling());
            }
        }
        let find = |name: &Subject| self.configured(Effect::Allow, action, name, false);
        let allowed = allow.iter().find_map(find).or(saved)?;
        Some(allowed.ruling())
    }

    /// The ruling on a path that starts at `base`, with `root` as what counts as inside.
    ///
    /// Outside of it an allow of the action `external` is needed as well.
    pub(crate) fn path(&self, action: &str, root: &Path, base: &Path, path: &Path) -> Ruling {
        match self.places.find(root, base, path) {
            Ok(place) => self.place(action, &place),
            Err(nothing) => Ruling::new(Decision::Deny, nothing.to_string()),
        }
    }

    /// The ruling on going to a folder without touching a file in it: `external` when it lies
    /// outside, nothing to ask inside.
    pub(crate) fn folder(&self, root: &Path, base: &Path, path: &Path) -> Option<Ruling> {
        match self.places.find(root, base, path) {
            Ok(place) => self.external(&place),
            Err(nothing) => Some(Ruling::new(Decision::Deny, nothing.to_string())),
        }
    }

    fn place(&self, action: &str, place: &Place) -> Ruling {
        let own = place.forms().map(|form| self.form(action, form));
        let external = self.external(place);
        let hidden = place
            .hidden()
            .map(|why| Ruling::new(Decision::Ask, why.to_owned()));
        strictest(own.chain(external).chain(hidden))
    }

    fn external(&self, place: &Place) -> Option<Ruling> {
        let outside = place.forms().filter(|form| form.outside);
        let mut rulings = outside
            .map(|form| self.form(Rule::EXTERNAL, form))
            .peekable();
        rulings.peek().is_some().then(|| strictest(rulings))
    }

    fn form(&self, action: &str, form: &Form) -> Ruling {
        self.names(action, &form.strict, &form.allow)
            .unwrap_or_else(|| no_rule(action))
    }

    fn configured(
        &self,
        effect: Effect,
        action: &str,
        subject: &Subject,
        sticky: bool,
    ) -> Option<&'a Rule> {
        self.first(effect, action, subject, |rule, pattern| {
            (!sticky || rule.is_sticky())
                && rule.applies_to(self.request) == Holds::Yes
                && subject.admits(pattern)
                && pattern.covers(subject)
        })
    }

    fn saved(&self, action: &str, subject: &Subject) -> Option<&'a Rule> {
        self.saved_as(action, subject, |_| true)
    }

    /// An approval that passes the check; one of the whole request needs to pass none.
    fn saved_as(
        &self,
        action: &str,
        subject: &Subject,
        check: impl Fn(&Rule) -> bool,
    ) -> Option<&'a Rule> {
        match self.saved {
            Saved::None => None,
            Saved::Whole(rule) => Some(rule),
            Saved::Of(saved, now) => saved.find(self.request, action, subject, now, check),
        }
    }
}

fn no_rule(action: &str) -> Ruling {
    Ruling::new(Decision::Ask, format!("no rule for {action} matches"))
}

/// The strictest of several rulings; of those that are equally strict the first that is a rule's,
/// else the first. Of none: deny.
///
/// What no rule speaks of never hides a rule: whoever allows the one has to see the other.
pub(crate) fn strictest(rulings: impl IntoIterator<Item = Ruling>) -> Ruling {
    let weight = |ruling: &Ruling| (ruling.decision, ruling.rule().is_some());
    rulings
        .into_iter()
        .reduce(|a, b| if weight(&b) > weight(&a) { b } else { a })
        .unwrap_or_else(|| Ruling::new(Decision::Deny, "the request names no resource"))
}
