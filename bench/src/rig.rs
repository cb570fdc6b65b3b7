//! rig: the same tool, as its users write and call it.

use std::convert::Infallible;

use rig_agent::tool::{Tool, ToolContext, ToolSet};
use rig_core::tool::ErasedTool;

use crate::add::{Add, DESCRIPTION, NAME, Sum, add};

/// A tool set with the one tool.
pub struct Rig {
    tools: ToolSet,
}

struct Adds;

impl Tool for Adds {
    const NAME: &'static str = NAME;
    type Args = Add;
    type Output = Sum;
    type Error = Infallible;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        schemars::schema_for!(Add).into()
    }

    async fn call(&self, _: &mut ToolContext, input: Add) -> Result<Sum, Infallible> {
        Ok(add(input).await)
    }
}

impl Rig {
    pub fn new() -> Self {
        Self {
            tools: ToolSet::from_tools(vec![Adds]),
        }
    }

    /// A call by name, as rig's own agent loop makes it.
    pub async fn call(&self, name: &str, arguments: &str) -> String {
        let mut context = ToolContext::new();
        let result = self.tools.execute(name, arguments, &mut context).await;
        result.output().render()
    }

    /// The least that a call can cost in rig: decode, call, encode. No lookup, no dispatch.
    pub async fn call_bare(&self, arguments: &str) -> String {
        let mut context = ToolContext::new();
        let result = ErasedTool::execute(&Adds, arguments.to_owned(), &mut context).await;
        result.output().render()
    }
}
