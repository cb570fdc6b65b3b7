//! The codecs that are used unless others are given: serde, with schemas from schemars.

use std::error::Error;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Decoder, Encoder, InvalidArguments, Issue, Output, Plain, Schema, SchemaError, Spoken,
};

/// Decodes by `Deserialize`, under the schema of the deserialize contract, closed.
pub(crate) struct SerdeDecoder<I> {
    schema: Value,
    types: PhantomData<fn() -> I>,
}

/// Encodes by `Serialize`, under the schema of the serialize contract.
pub(crate) struct SerdeEncoder<O> {
    schema: Value,
    types: PhantomData<fn(O)>,
}

impl<I: JsonSchema> SerdeDecoder<I> {
    pub(crate) fn new() -> Result<Self, SchemaError> {
        let schema = Schema::input_of::<I>()?.as_value().clone();
        Ok(Self {
            schema,
            types: PhantomData,
        })
    }

    /// A decoder for a type whose schema cannot be used; the tool is refused anyway.
    pub(crate) fn hopeless() -> Self {
        Self {
            schema: Schema::no_arguments().as_value().clone(),
            types: PhantomData,
        }
    }
}

impl<O: JsonSchema> SerdeEncoder<O> {
    pub(crate) fn new() -> Self {
        Self {
            schema: Schema::generated_output::<O>(),
            types: PhantomData,
        }
    }
}

impl<I: DeserializeOwned> Decoder<I> for SerdeDecoder<I> {
    fn schema(&self) -> Value {
        self.schema.clone()
    }

    fn decode(&self, input: &Value) -> Result<I, InvalidArguments> {
        // Decoded a second time to learn where; the good path need not know.
        I::deserialize(input).map_err(|_| InvalidArguments::new([misfit::<I>(input)]))
    }

    fn decode_spoken(&self, input: &Spoken<'_>) -> Result<I, InvalidArguments> {
        match input.plain().and_then(Plain::decode) {
            Some(decoded) => Ok(decoded),
            None => self.decode(input.value()),
        }
    }
}

impl<O: Serialize> Encoder<O> for SerdeEncoder<O> {
    fn schema(&self) -> Option<Value> {
        Some(self.schema.clone())
    }

    fn encode(&self, output: O) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(serde_json::to_value(output)?)
    }

    fn encode_output(&self, output: O) -> Result<Output, Box<dyn Error + Send + Sync>> {
        Ok(Output::encode(&output)?)
    }
}

/// Where the input does not fit the type. The decoder's own text is not used: it quotes values.
fn misfit<I: DeserializeOwned>(input: &Value) -> Issue {
    let path = match serde_path_to_error::deserialize::<_, I>(input) {
        Ok(_) => String::new(),
        Err(error) => pointer(error.path()),
    };
    Issue::Constraint {
        path,
        rule: "expected a value that the tool's input type can hold".to_owned(),
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
