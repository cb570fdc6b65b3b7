//! What servers ask in the middle of a call.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tool_core::BoxFuture;
use tool_mcp::{Inputs, WantedInput};

use crate::scenario::{Failure, Scenario, same};
use crate::setting::Setting;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "elicitation-sep1034-client-defaults",
        run: |setting| Box::pin(defaults(setting)),
    },
    Scenario {
        name: "sep-2322-client-request-state",
        run: |setting| Box::pin(rounds(setting)),
    },
];

/// Takes every form as it is offered, and answers a form that offers nothing with a yes.
struct Agreeing;

impl Inputs for Agreeing {
    fn capabilities(&self) -> Map<String, Value> {
        Map::from_iter([("elicitation".to_owned(), json!({}))])
    }

    fn provide<'a>(&'a self, wanted: &'a WantedInput) -> BoxFuture<'a, Result<Value, String>> {
        let fields = wanted.params["requestedSchema"]["properties"].as_object();
        let content: Map<String, Value> = fields
            .into_iter()
            .flatten()
            .map(|(name, field)| {
                let default = field.get("default").cloned();
                (name.clone(), default.unwrap_or(Value::Bool(true)))
            })
            .collect();
        Box::pin(async move { Ok(json!({"action": "accept", "content": content})) })
    }
}

async fn defaults(setting: Setting) -> Result<(), Failure> {
    let session = setting
        .connect_with(|upstreams| upstreams.inputs(Arc::new(Agreeing)))
        .await?;
    session
        .call("test_client_elicitation_defaults", json!({}))
        .await?;
    session.close().await
}

/// Carries what a server wants carried from round to round, and into no other call.
async fn rounds(setting: Setting) -> Result<(), Failure> {
    let session = setting
        .connect_with(|upstreams| upstreams.inputs(Arc::new(Agreeing)))
        .await?;
    for (tool, expected) in [
        ("test_mrtr_echo_state", "echo-state-ok"),
        ("test_mrtr_unrelated", "unrelated-ok"),
        ("test_mrtr_no_state", "no-state-ok"),
    ] {
        let called = session.call(tool, json!({})).await?;
        same(tool, &called.text(), &expected.to_owned())?;
    }
    session.call("test_mrtr_no_result_type", json!({})).await?;
    session.close().await
}
