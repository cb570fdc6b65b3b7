//! Reading what an operator wrote, with everything that is wrong with it.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::EntryError;
use super::nearest::nearest;

/// A time that an operator can set, in seconds: up to a day.
pub(super) const SECONDS: RangeInclusive<u64> = 1..=86_400;

/// Reads values of one server and gathers what is wrong with them.
pub(super) struct Reader {
    server: String,
    problems: Vec<EntryError>,
}

impl Reader {
    pub(super) fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            problems: Vec::new(),
        }
    }

    pub(super) fn into_problems(self) -> Vec<EntryError> {
        self.problems
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_content(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn wrong(&mut self, at: &str, problem: impl Into<String>) {
        let problem = EntryError::new(&self.server, at, problem);
        self.problems.push(problem);
    }

    /// The members of an object that has these keys and no others.
    pub(super) fn members<'v>(
        &mut self,
        at: &str,
        value: &'v Value,
        known: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let members = self.any_members(at, value)?;
        for key in members.keys() {
            if known.contains(&key.as_str()) {
                continue;
            }
            let problem = match nearest(key, known.iter().copied()) {
                Some(near) => format!("is not known; did you mean \"{near}\"?"),
                None => format!("is not known; there are {}", known.join(", ")),
            };
            self.wrong(&format!("{at}.{key}"), problem);
        }
        Some(members)
    }

    /// The members of an object whose keys are names.
    pub(super) fn any_members<'v>(
        &mut self,
        at: &str,
        value: &'v Value,
    ) -> Option<&'v Map<String, Value>> {
        let members = value.as_object();
        if members.is_none() {
            self.wrong(at, "is no object");
        }
        members
    }

    /// One member, with its place; nothing where it is absent or null.
    #[expect(clippy::unused_self, reason = "reads like the others")]
    pub(super) fn member<'v>(
        &self,
        at: &str,
        members: &'v Map<String, Value>,
        key: &str,
    ) -> Option<(String, &'v Value)> {
        let value = members.get(key).filter(|value| !value.is_null())?;
        let at = match at.is_empty() {
            true => key.to_owned(),
            false => format!("{at}.{key}"),
        };
        Some((at, value))
    }

    /// A text that an operating system takes.
    pub(super) fn string(&mut self, at: &str, value: &Value) -> Option<String> {
        let text = self.text(at, value)?;
        if text.contains('\0') {
            self.wrong(at, "holds a NUL character");
        }
        Some(text.to_owned())
    }

    /// Such texts under a key; none where it is absent or null.
    pub(super) fn strings(
        &mut self,
        at: &str,
        members: &Map<String, Value>,
        key: &str,
    ) -> Vec<String> {
        let Some((at, value)) = self.member(at, members, key) else {
            return Vec::new();
        };
        let Some(items) = value.as_array() else {
            self.wrong(&at, "is no array");
            return Vec::new();
        };
        let items = items.iter().enumerate();
        items
            .filter_map(|(index, item)| self.string(&format!("{at}.{index}"), item))
            .collect()
    }

    pub(super) fn text<'v>(&mut self, at: &str, value: &'v Value) -> Option<&'v str> {
        let text = value.as_str();
        if text.is_none() {
            self.wrong(at, "is no string");
        }
        text
    }

    pub(super) fn flag(&mut self, at: &str, value: &Value) -> bool {
        let flag = value.as_bool();
        if flag.is_none() {
            self.wrong(at, "is neither true nor false");
        }
        flag.unwrap_or_default()
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        at: &str,
        value: &Value,
        words: &[(&str, T)],
    ) -> Option<T> {
        let said = value.as_str();
        let meant = words.iter().find(|(word, _)| Some(*word) == said);
        if meant.is_none() {
            let words: Vec<_> = words
                .iter()
                .map(|(word, _)| format!("\"{word}\""))
                .collect();
            self.wrong(at, format!("is none of {}", words.join(", ")));
        }
        meant.map(|(_, meaning)| *meaning)
    }

    pub(super) fn whole(
        &mut self,
        at: &str,
        value: &Value,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let number = value.as_u64().filter(|number| range.contains(number));
        if number.is_none() {
            let (least, most) = range.into_inner();
            self.wrong(at, format!("is no whole number from {least} to {most}"));
        }
        number
    }

    /// A whole number of something of which there must be one at least.
    pub(super) fn count(
        &mut self,
        at: &str,
        value: &Value,
        range: RangeInclusive<u64>,
    ) -> Option<NonZeroU32> {
        let number = self.whole(at, value, range)?;
        NonZeroU32::new(u32::try_from(number).ok()?)
    }
}
