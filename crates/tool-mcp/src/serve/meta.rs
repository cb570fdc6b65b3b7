//! What a request tells beside its parameters.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::wire::revision::meta::{CAPABILITIES, LOG_LEVEL, VERSION};

/// The most bytes of what a client tells beside what is reserved.
pub(crate) const MOST_BYTES: usize = 16 * 1024;

/// What a request tells beside its parameters.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    pub(crate) progress_token: Option<Value>,
    pub(crate) version: Option<String>,
    pub(crate) capabilities: Option<Map<String, Value>>,
    pub(crate) log_level: Option<String>,
    /// What is neither the protocol's nor ours, and goes to whoever is asked in the end.
    pub(crate) carried: Option<Box<Map<String, Value>>>,
    /// Whether that takes more than may be carried, and nothing of it is here.
    pub(crate) is_too_long: bool,
}

impl Meta {
    fn carry(&mut self, key: &str, told: &RawValue, bytes: &mut usize) -> serde_json::Result<()> {
        *bytes += key.len() + told.get().len();
        if *bytes > MOST_BYTES {
            self.is_too_long = true;
            self.carried = None;
            return Ok(());
        }
        let told = serde_json::from_str(told.get())?;
        let carried = self.carried.get_or_insert_default();
        carried.insert(key.to_owned(), told);
        Ok(())
    }
}

/// Whether a key is the protocol's own or ours: what it says is for the next one on the way.
///
/// Source: Model Context Protocol 2025-11-25 and 2026-07-28, "Overview", `_meta`.
fn is_reserved(key: &str) -> bool {
    let Some((prefix, _)) = key.split_once('/') else {
        return key == "progressToken";
    };
    let labels = prefix.split('.').count();
    let mut numbered = prefix.split('.').enumerate();
    let is_protocol = numbered.any(|(place, label)| {
        matches!(label, "modelcontextprotocol" | "mcp") && (place + 1 < labels || place == 1)
    });
    is_protocol || matches!(prefix, "tool-runtime" | "io.github.tool-runtime")
}

/// A key, without a copy where it is written plainly.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Meta;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta, A::Error> {
                let (mut meta, mut bytes) = (Meta::default(), 0);
                while let Some(Key(key)) = map.next_key()? {
                    match &*key {
                        "progressToken" => meta.progress_token = map.next_value()?,
                        VERSION => meta.version = map.next_value()?,
                        CAPABILITIES => meta.capabilities = map.next_value()?,
                        LOG_LEVEL => meta.log_level = map.next_value()?,
                        _ if meta.is_too_long || is_reserved(&key) => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                        _ => {
                            let told = map.next_value::<&RawValue>()?;
                            let carried = meta.carry(&key, told, &mut bytes);
                            carried.map_err(A::Error::custom)?;
                        }
                    }
                }
                Ok(meta)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MOST_BYTES, Meta, is_reserved};

    #[test]
    fn what_is_the_protocols_or_ours_is_for_the_next_one_alone() {
        for key in [
            "progressToken",
            "io.modelcontextprotocol/related-task",
            "modelcontextprotocol.io/x",
            "mcp.dev/x",
            "tools.mcp.com/x",
            "com.mcp/x",
            "tool-runtime/rounded",
            "io.github.tool-runtime/declarations",
        ] {
            assert!(is_reserved(key), "{key}");
        }
        for key in [
            "traceparent",
            "openai/userAgent",
            "com.example.mcp/x",
            "mcp/x",
            "a/b",
        ] {
            assert!(!is_reserved(key), "{key}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let text = |bytes: usize| json!({"a": "x".repeat(bytes), "b": 1}).to_string();
        let read = |bytes| serde_json::from_str::<Meta>(&text(bytes)).expect("it is an object");
        // Two keys, two quotation marks and a digit beside it.
        let most = read(MOST_BYTES - 5);
        assert!(!most.is_too_long && most.carried.is_some_and(|carried| carried.len() == 2));
        let over = read(MOST_BYTES - 4);
        assert!(over.is_too_long && over.carried.is_none());
    }
}
