//! A tool that tells a model how the servers behind the gateway are doing.

use serde_json::{Map, Value, json};
use tool_core::{Context, HandlerError, Permission, Tool};
use tool_mcp::{UpstreamState, UpstreamStatus, UpstreamsWatch};

/// The name of the tool. No server's tool has it: theirs hold the name of their server.
pub(crate) const NAME: &str = "server_status";
/// What it asks leave for, and of what.
pub(crate) const ACTION: &str = "status";
pub(crate) const RESOURCE: &str = "servers";

/// The arguments: none.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A tool that only reads, and asks leave as `status` of `servers`, which the built-in rules give.
/// What it says holds no reason of a server's failure: those name commands and folders, and may
/// hold text of the server.
pub(crate) fn status_tool(servers: UpstreamsWatch, permission: Permission) -> Tool {
    Tool::new(
        "Tells which MCP servers stand behind this gateway and whether their tools can be called \
         now. Use it when a tool of a server is missing or is refused as not available.",
        move |_: Nothing, cx: Context| {
            let (servers, permission) = (servers.clone(), permission.clone());
            async move {
                permission
                    .assert(&cx, ACTION, [RESOURCE])
                    .save(RESOURCE)
                    .await?;
                let servers: Vec<Value> = servers.statuses().iter().map(told).collect();
                Ok::<_, HandlerError>(json!({"servers": servers}))
            }
        },
    )
    .title("Status of servers")
    .read_only()
    .asserts_permission()
    .into()
}

fn told(status: &UpstreamStatus) -> Value {
    let state = status.state.as_str();
    let mut told = Map::new();
    told.insert("name".to_owned(), status.name.as_str().into());
    told.insert("state".to_owned(), state.into());
    let note = match &status.state {
        UpstreamState::Ready { tools, refused } => {
            told.insert("tools".to_owned(), (*tools).into());
            let refused = refused.len();
            (refused > 0).then(|| {
                format!("{refused} further tools cannot be called; an operator has to look at them")
            })
        }
        UpstreamState::Connecting => Some("its tools are not there yet".to_owned()),
        UpstreamState::Away { .. } => Some(
            "it is connected again by itself; calls of its tools are refused meanwhile".to_owned(),
        ),
        UpstreamState::Held { .. } => {
            Some("an operator has to approve how it is reached".to_owned())
        }
        UpstreamState::Locked { .. } => Some("an operator has to log in to it".to_owned()),
        UpstreamState::Failed { .. } => Some("an operator has to look at it".to_owned()),
        UpstreamState::Disabled => Some("an operator has switched it off".to_owned()),
        _ => None,
    };
    if let Some(note) = note {
        told.insert("note".to_owned(), note.into());
    }
    told.into()
}
