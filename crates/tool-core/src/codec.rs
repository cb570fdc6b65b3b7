//! How values of a tool's types are read and written.

use std::error::Error;

use serde_json::Value;

use crate::{InvalidArguments, Output, Spoken};

/// Reads values of a type. Implement it to plug in a validation library of your own.
///
/// The schema describes the encoded side, which models write; `decode` is called with values that
/// the schema accepts and may still refuse them.
///
/// Whatever sees the input of a tool is given what its decoder made of it: the handler, a
/// [model projection](crate::TypedTool::model), and the predicates that
/// [ask](crate::TypedTool::needs_approval_when) and
/// [check in](crate::TypedTool::check_in_when). A codec of output that is a decoder of it too reads
/// back what it wrote, for projections and for who calls the tool by its types. Without that way
/// back these do not compile.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not decode `{I}`",
    note = "what was encoded is read back by the same codec; implement `Decoder` for it too"
)]
pub trait Decoder<I>: Send + Sync {
    /// The schema of the encoded side. That of input has `"type": "object"` at its root.
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

/// Writes values of a type. Implement it to plug in a validation library of your own.
///
/// It writes the final output of a tool and every preliminary one. A codec of input that is an
/// encoder of it too lets the tool be called by its types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not encode `{O}`",
    note = "input is written by the codec that reads it; implement `Encoder` for it too"
)]
pub trait Encoder<O>: Send + Sync {
    /// The schema of the encoded side; `None` where there is nothing to say.
    fn schema(&self) -> Option<Value>;

    /// Encodes one value.
    ///
    /// # Errors
    /// Whatever stands against it; the call then ends as a defect.
    fn encode(&self, output: &O) -> Result<Value, Box<dyn Error + Send + Sync>>;

    /// Encodes one value, of which nobody may ever ask for a value of JSON. Gives what
    /// [`encode`](Self::encode) would give; override it to spare that. The codec that is used unless
    /// another is given does so with [`Output::encode`], which may serialize twice: output that can be
    /// serialized only once is to be collected before.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn encode_output(&self, output: &O) -> Result<Output, Box<dyn Error + Send + Sync>> {
        self.encode(output).map(Output::from)
    }
}
