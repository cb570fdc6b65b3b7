//! Headers that repeat what stands in the body.

use serde_json::{Map, Value, json};
use tool_mcp::OfferKind;

use crate::scenario::{Failure, Scenario, same};
use crate::setting::Setting;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "http-standard-headers",
        run: |setting| Box::pin(standard(setting)),
    },
    Scenario {
        name: "http-custom-headers",
        run: |setting| Box::pin(custom(setting)),
    },
    Scenario {
        name: "http-invalid-tool-headers",
        run: |setting| Box::pin(invalid(setting)),
    },
];

/// Every method of which the headers are compared.
async fn standard(setting: Setting) -> Result<(), Failure> {
    let session = setting.connect().await?;
    for tool in ["test_headers", "my-hyphenated-tool"] {
        let called = session.call(tool, json!({})).await?;
        let expected = "Headers test completed".to_owned();
        same(tool, &called.text(), &expected)?;
    }
    let offerings = session.upstreams.offerings();
    for resource in offerings.list(OfferKind::Resource).await? {
        offerings.read(&resource.key).await?;
    }
    for prompt in offerings.list(OfferKind::Prompt).await? {
        offerings.prompt(&prompt.key, Map::new()).await?;
    }
    session.close().await
}

#[derive(serde::Deserialize)]
struct Call {
    name: String,
    arguments: Value,
}

/// Calls that the suite names, so that it knows which headers should come.
async fn custom(setting: Setting) -> Result<(), Failure> {
    let session = setting.connect().await?;
    let calls: Vec<Call> = match setting.context.get("toolCalls") {
        Some(calls) => serde_json::from_value(calls.clone())?,
        None => Vec::new(),
    };
    for call in calls {
        session.call(&call.name, call.arguments).await?;
    }
    session.close().await
}

/// A tool that is wrong about its headers is none, and takes no other with it.
async fn invalid(setting: Setting) -> Result<(), Failure> {
    let session = setting.connect().await?;
    same(
        "the tools",
        &session.tools(),
        &vec!["valid_tool".to_owned()],
    )?;
    session
        .call("valid_tool", json!({"region": "us-east1"}))
        .await?;
    session.close().await
}
