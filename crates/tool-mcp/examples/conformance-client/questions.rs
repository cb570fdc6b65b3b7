//! What servers ask in the middle of a call.

use std::sync::Arc;

use serde_json::{Map, json};
use tool_core::BoxFuture;
use tool_mcp::{AskKind, InputAnswer, Inputs, WantedInput};

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

/// Takes every form as it is offered.
struct Agreeing;

impl Inputs for Agreeing {
    fn kinds<'a>(&'a self, _server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        Box::pin(async { vec![AskKind::Form] })
    }

    fn provide<'a>(
        &'a self,
        wanted: &'a WantedInput,
    ) -> BoxFuture<'a, Result<InputAnswer, String>> {
        Box::pin(async move { Ok(wanted.accept(Map::new())) })
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
