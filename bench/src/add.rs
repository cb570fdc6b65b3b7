//! The tool that everybody is measured with: it adds two integers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name under which everybody registers it.
pub const NAME: &str = "add";
/// What it does, for the model.
pub const DESCRIPTION: &str = "Add two integers";
/// Arguments as a model writes them.
pub const ARGUMENTS: &str = r#"{"a": 19, "b": 23}"#;
/// Arguments that do not fit: one is of another type.
pub const REFUSED: &str = r#"{"a": 19, "b": [23]}"#;
/// What a model is to read of the result.
pub const TEXT: &str = r#"{"sum":42}"#;

/// The input.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Add {
    /// The first integer.
    pub a: i64,
    /// The second integer.
    pub b: i64,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sum {
    /// Both together.
    pub sum: i64,
}

/// The work itself, the same for everybody.
pub async fn add(input: Add) -> Sum {
    Sum {
        sum: input.a.wrapping_add(input.b),
    }
}
