//! A line for a shell, judged without reading its grammar.

use tool_core::{Decision, Ruling};

use crate::Effect;
use crate::judge::Judge;
use crate::subject::Subject;

impl Judge<'_> {
    /// The ruling on a line: by its words where it is plain words, else by exact rules only.
    pub(crate) fn line(&self, action: &str, line: &str) -> Ruling {
        let words = Subject::words(line.split_ascii_whitespace());
        let plain = line.chars().all(is_plain) && !line.trim().is_empty();
        if plain {
            return self.subject(action, &words);
        }
        match self.certain(Effect::Deny, action, &words) {
            Some(rule) => rule.ruling(),
            None => Ruling::new(Decision::Ask, "the line is more than plain words"),
        }
    }
}

fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || "_./:@%+,- ".contains(char)
}
