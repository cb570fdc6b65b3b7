//! Connecting, listing and calling, streams that break off among it.

use serde_json::json;

use crate::scenario::{Failure, Scenario, same};
use crate::setting::Setting;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "initialize",
        run: |setting| Box::pin(connect(setting)),
    },
    Scenario {
        name: "request-metadata",
        run: |setting| Box::pin(connect(setting)),
    },
    Scenario {
        name: "tools_call",
        run: |setting| Box::pin(add(setting)),
    },
    Scenario {
        name: "sse-retry",
        run: |setting| Box::pin(reconnect(setting)),
    },
];

async fn connect(setting: Setting) -> Result<(), Failure> {
    setting.connect().await?.close().await
}

async fn add(setting: Setting) -> Result<(), Failure> {
    let session = setting.connect().await?;
    let added = session.call("add_numbers", json!({"a": 5, "b": 3})).await?;
    let expected = "The sum of 5 and 3 is 8".to_owned();
    same("the sum", &added.text(), &expected)?;
    session.close().await
}

async fn reconnect(setting: Setting) -> Result<(), Failure> {
    let session = setting.connect().await?;
    session.call("test_reconnection", json!({})).await?;
    session.close().await
}
