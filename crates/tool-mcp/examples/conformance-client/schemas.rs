//! Schemas that are kept as they came, and fetch nothing.

use serde_json::{Value, json};

use crate::scenario::{Failure, Scenario, same};
use crate::setting::Setting;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "json-schema-ref-no-deref",
        run: |setting| Box::pin(list(setting)),
    },
    Scenario {
        name: "json-schema-2020-12-preservation",
        run: |setting| Box::pin(echo(setting)),
    },
];

/// Reads every schema that is listed. The suite knows what was fetched meanwhile.
async fn list(setting: Setting) -> Result<(), Failure> {
    setting.connect().await?.close().await
}

async fn echo(setting: Setting) -> Result<(), Failure> {
    let session = setting.connect().await?;
    let listed = session.listed("json_schema_2020_12_tool");
    let schema = listed.and_then(|mut tool| tool.get_mut("inputSchema").map(Value::take));
    let schema = schema.ok_or("the tool is not listed")?;
    let echoed = session
        .call("json_schema_echo", json!({"schema": schema}))
        .await?;
    same("the answer", &echoed.text(), &"echoed".to_owned())?;
    session.close().await
}
