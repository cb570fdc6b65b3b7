//! A first look at a schema.

use serde_json::Value;

/// What a look over a schema tells before it is read.
///
/// It spares the reader some questions at every place. Also, a schema is spread over memory, and
/// what goes through it without stopping waits less for it than who stops to think at every place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Survey {
    /// Bytes that it takes as JSON at the least: nothing is counted that may be left out, and no
    /// text is looked into.
    pub(crate) bytes: usize,
    /// It may refer to something, or name a place that is referred to.
    pub(crate) refers: bool,
    /// It may enumerate values.
    pub(crate) enumerates: bool,
}

impl Survey {
    pub(crate) fn of(schema: &Value) -> Self {
        let mut survey = Self::default();
        survey.look(schema);
        survey
    }

    fn look(&mut self, value: &Value) {
        self.bytes += match value {
            Value::Null | Value::Bool(_) => 4,
            Value::Number(_) => 1,
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                items.iter().for_each(|item| self.look(item));
                // With the commas between.
                items.len() + 1
            }
            Value::Object(map) => {
                for (key, value) in map {
                    self.key(key, value);
                    self.look(value);
                }
                1
            }
        }
    }

    fn key(&mut self, key: &str, value: &Value) {
        self.bytes += key.len() + 4;
        match key.as_bytes() {
            [b'$', ..] => self.refers |= key != "$schema",
            b"id" => self.refers |= value.is_string(),
            b"enum" | b"const" => self.enumerates = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
