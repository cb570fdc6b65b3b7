//! A message as far as it has to be read to know whose it is.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A message as far as it has to be read to know whose it is. Everything else stays text.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) jsonrpc: Option<Word<'a>>,
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Word<'a>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

/// A word of a message. Inside of an option it is borrowed only by having a type of its own.
#[derive(Deserialize)]
pub(crate) struct Word<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);
