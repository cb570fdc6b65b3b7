//! How values of a tool's types are read and written.

use std::error::Error;

use serde_json::Value;

use crate::{InvalidArguments, Output, Spoken};

/// Reads input. Implement it to plug in a validation library of your own.
///
/// The schema describes the encoded side, which models write; `decode` is called with values that
/// the schema accepts and may still refuse them.
#[diagnostic::on_unimplemented(message = "`{Self}` does not decode `{I}`")]
pub trait Decoder<I>: Send + Sync {
    /// The schema of the encoded side, with `"type": "object"` at its root.
    fn schema(&self) -> Value;

    /// Decodes one value.
    ///
    /// # Errors
    /// Issues without supplied values.
    fn decode(&self, input: &Value) -> Result<I, InvalidArguments>;

    /// Decodes arguments that may not be a value yet. Gives what [`decode`](Self::decode) would
    /// give for their value; override it to spare that value.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_spoken(&self, input: &Spoken<'_>) -> Result<I, InvalidArguments> {
        self.decode(input.value())
    }
}

/// Writes output. Implement it to plug in a validation library of your own.
#[diagnostic::on_unimplemented(message = "`{Self}` does not encode `{O}`")]
pub trait Encoder<O>: Send + Sync {
    /// The schema of the encoded side; `None` where there is nothing to say.
    fn schema(&self) -> Option<Value>;

    /// Encodes one value.
    ///
    /// # Errors
    /// Whatever stands against it; the call then ends as a defect.
    fn encode(&self, output: O) -> Result<Value, Box<dyn Error + Send + Sync>>;

    /// Encodes one value, of which nobody may ever ask for a value of JSON. Gives what
    /// [`encode`](Self::encode) would give; override it to spare that. The codec that is used unless
    /// another is given does so with [`Output::encode`], which may serialize twice: output that can be
    /// serialized only once is to be collected before.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn encode_output(&self, output: O) -> Result<Output, Box<dyn Error + Send + Sync>> {
        self.encode(output).map(Output::from)
    }
}
