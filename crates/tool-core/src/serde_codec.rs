//! The codecs that are used unless others are given: serde, with schemas from schemars.

use std::any::TypeId;
use std::error::Error;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Decoder, Encoder, InvalidArguments, Issue, Output, Plain, Schema, Spoken};

/// The codec that is used unless another is given: values are read and written by serde, under the
/// schemas that schemars derives, where those of input refuse unknown keys.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Serde;

impl Serde {
    /// The codec.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl<I: DeserializeOwned + JsonSchema> Decoder<I> for Serde {
    fn schema(&self) -> Value {
        Schema::generated_input::<I>()
    }

    #[inline]
    fn decode(&self, input: &Value) -> Result<I, InvalidArguments> {
        // Decoded a second time to learn where; the good path need not know.
        I::deserialize(input).map_err(|_| InvalidArguments::new([misfit::<I>(input)]))
    }

    #[inline]
    fn decode_spoken(&self, input: &Spoken<'_>) -> Result<I, InvalidArguments> {
        match input.plain().and_then(Plain::decode) {
            Some(decoded) => Ok(decoded),
            None => Decoder::<I>::decode(self, input.value()),
        }
    }
}

impl<O: Serialize + JsonSchema> Encoder<O> for Serde {
    fn schema(&self) -> Option<Value> {
        Some(Schema::generated_output::<O>())
    }

    fn encode(&self, output: &O) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(serde_json::to_value(output)?)
    }

    #[inline]
    fn encode_output(&self, output: &O) -> Result<Output, Box<dyn Error + Send + Sync>> {
        Ok(Output::encode(output)?)
    }
}

/// Whether a codec is the one that is used unless another is given.
pub(crate) fn is_serde<C: 'static>() -> bool {
    TypeId::of::<C>() == TypeId::of::<Serde>()
}

/// Where the input does not fit the type. The decoder's own text is not used: it quotes values.
fn misfit<I: DeserializeOwned>(input: &Value) -> Issue {
    let path = match serde_path_to_error::deserialize::<_, I>(input) {
        Ok(_) => String::new(),
        Err(error) => pointer(error.path()),
    };
    Issue::Constraint {
        path,
        rule: "expected a value that the tool's type can hold".to_owned(),
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
