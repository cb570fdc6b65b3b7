//! The floor: what somebody would write by hand who has one tool and no wish for a runtime.
//!
//! It looks up, parses, validates, decodes, calls, encodes, validates and renders. It knows the
//! types at compile time and does nothing else: no policy, no hooks, no cancellation, no guard
//! against panics, no record of the call.

use std::collections::HashMap;

use jsonschema::{PatternOptions, Validator};
use serde::Deserialize as _;
use serde_json::Value;
use tool_core::Schema;

use crate::add::{Add, NAME, Sum, add};

/// A table of compiled schemas by name.
pub struct Floor {
    tools: HashMap<String, Compiled>,
}

struct Compiled {
    input: Validator,
    output: Validator,
}

/// What the caller gets: text for the model and the value for programs.
pub struct Answer {
    pub text: String,
    pub value: Value,
}

/// A call that was not answered. The floor does not say why.
#[derive(Debug)]
pub struct Refused;

impl Floor {
    pub fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let compiled = Compiled {
            input: compile(&Schema::input_of::<Add>()?)?,
            output: compile(&Schema::output_of::<Sum>()?)?,
        };
        Ok(Self {
            tools: HashMap::from([(NAME.to_owned(), compiled)]),
        })
    }

    pub async fn call(&self, name: &str, arguments: &str) -> Result<Answer, Refused> {
        let tool = self.tools.get(name).ok_or(Refused)?;
        let input: Value = serde_json::from_str(arguments).map_err(|_| Refused)?;
        if !tool.input.is_valid(&input) {
            return Err(Refused);
        }
        let input = Add::deserialize(&input).map_err(|_| Refused)?;
        let output = add(input).await;
        let value = serde_json::to_value(output).map_err(|_| Refused)?;
        if !tool.output.is_valid(&value) {
            return Err(Refused);
        }
        let text = serde_json::to_string(&value).map_err(|_| Refused)?;
        Ok(Answer { text, value })
    }
}

/// Compiles as the registry does.
fn compile(schema: &Schema) -> Result<Validator, Box<dyn std::error::Error>> {
    let compiled = jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(schema.as_value());
    compiled.map_err(|error| error.to_string().into())
}
