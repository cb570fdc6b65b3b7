//! JSON that is shown in part and stays JSON.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize as _};
use serde_json::value::RawValue;

/// JSON of which whole items are left out, on one line, and where.
#[derive(Debug)]
pub(crate) struct JsonCut {
    pub(crate) text: String,
    /// The places at which something is left out.
    pub(crate) places: Vec<Place>,
}

/// A list or an object of which items are left out.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its JSON pointer.
    pub(crate) pointer: String,
    pub(crate) left_out: usize,
    pub(crate) of: usize,
}

impl JsonCut {
    /// Cuts a text that is one list or object down to so many bytes. Items are kept as they were
    /// written, but for white space between them. `None` for any other text, for one that is large
    /// enough for that to take long, and where so little would be left that both ends of the text
    /// say more.
    pub(crate) fn of(text: &str, budget: usize) -> Option<Self> {
        let trimmed = text.trim_ascii();
        let is_whole = (trimmed.starts_with('{') && trimmed.ends_with('}'))
            || (trimmed.starts_with('[') && trimmed.ends_with(']'));
        if !is_whole || trimmed.len() > MOST_BYTES {
            return None;
        }
        // Refuses what is no JSON before anything is made of it.
        serde_json::from_str::<&RawValue>(trimmed).ok()?;
        let compact = compacted(trimmed);
        let mut cut = Self {
            text: String::with_capacity(budget.min(compact.len())),
            places: Vec::new(),
        };
        cut.show(&compact, budget, "", 0);
        let says_enough = cut.text.len() >= budget.min(compact.len()) / 4;
        says_enough.then_some(cut)
    }

    /// Writes a value, or what fits of it. `false` when nothing does.
    fn show(&mut self, raw: &str, budget: usize, pointer: &str, depth: usize) -> bool {
        if raw.len() <= budget {
            self.text.push_str(raw);
            return true;
        }
        if budget < LEAST || depth > DEEPEST {
            return false;
        }
        if raw.starts_with('[') {
            self.show_list(raw, budget, pointer, depth)
        } else if raw.starts_with('{') {
            self.show_object(raw, budget, pointer, depth)
        } else {
            false
        }
    }

    /// The first items that fit; of one that is too large alone, what fits of it.
    fn show_list(&mut self, raw: &str, budget: usize, pointer: &str, depth: usize) -> bool {
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(raw) else {
            return false;
        };
        let mut left = budget - 2;
        let mut kept = 0;
        self.text.push('[');
        for (index, item) in items.iter().enumerate() {
            let comma = usize::from(index > 0);
            if item.get().len() + comma <= left {
                if index > 0 {
                    self.text.push(',');
                }
                self.text.push_str(item.get());
                left -= item.get().len() + comma;
                kept += 1;
                continue;
            }
            if index == 0 && self.show(item.get(), left, &format!("{pointer}/0"), depth + 1) {
                kept += 1;
            }
            break;
        }
        self.text.push(']');
        self.leave_out(pointer, items.len() - kept, items.len());
        true
    }

    /// Small members whole, the large ones as far as they fit into equal shares of the rest.
    fn show_object(&mut self, raw: &str, budget: usize, pointer: &str, depth: usize) -> bool {
        let Ok(Members(members)) = serde_json::from_str(raw) else {
            return false;
        };
        let mut by_size: Vec<(usize, usize)> = members
            .iter()
            .enumerate()
            .map(|(index, (key, value))| (key.len() + value.get().len() + 2, index))
            .collect();
        by_size.sort_unstable();
        let mut shares = vec![0; members.len()];
        let mut left = budget - 2;
        let mut waiting = by_size.len();
        for (size, index) in by_size {
            let share = size.min(left / waiting.max(1));
            if let Some(slot) = shares.get_mut(index) {
                *slot = share;
            }
            left -= share;
            waiting -= 1;
        }

        let (mut kept, mut left_out) = (0, 0);
        self.text.push('{');
        for ((key, value), share) in members.iter().zip(shares) {
            let before = self.text.len();
            if kept > 0 {
                self.text.push(',');
            }
            self.text.push_str(key);
            self.text.push(':');
            let room = share.saturating_sub(key.len() + 2);
            let pointer = format!("{pointer}/{}", escaped(key));
            if self.show(value.get(), room, &pointer, depth + 1) {
                kept += 1;
            } else {
                self.text.truncate(before);
                left_out += 1;
            }
        }
        self.text.push('}');
        self.leave_out(pointer, left_out, members.len());
        true
    }

    fn leave_out(&mut self, pointer: &str, left_out: usize, of: usize) {
        if left_out > 0 {
            self.places.push(Place {
                pointer: pointer.to_owned(),
                left_out,
                of,
            });
        }
    }
}

/// The members of an object in their order, a key that comes twice among them. Keys are JSON.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((json_string(&key), value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

fn json_string(text: &str) -> String {
    let mut json = Vec::new();
    // Writing a string to memory cannot fail.
    let _ = text.serialize(&mut serde_json::Serializer::new(&mut json));
    String::from_utf8(json).unwrap_or_default()
}

/// A key, which is JSON, as a step of a JSON pointer.
fn escaped(key: &str) -> String {
    let key: String = serde_json::from_str(key).unwrap_or_default();
    key.replace('~', "~0").replace('/', "~1")
}

/// JSON without the white space between its parts.
fn compacted(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut inside, mut is_escaped) = (false, false);
    for c in json.chars() {
        if inside {
            inside = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
        } else if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            inside = c == '"';
        }
        compact.push(c);
    }
    compact
}

/// What larger texts are is not looked at: a preview shall not take long.
const MOST_BYTES: usize = 8 << 20;
/// Below that nothing of a list or an object is worth showing.
const LEAST: usize = 16;
const DEEPEST: usize = 16;
