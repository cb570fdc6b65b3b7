//! The protocol library's own client, which was not written beside this server.

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::{RoleClient, model::ProtocolVersion};
use serde_json::json;
use tool_mcp::Server;
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::registry::{Running, permissive, tools};

type Client = RunningService<RoleClient, ClientConfig>;

fn streams(registry: &Registry) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let server = Server::new(registry.clone());
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(theirs);
        server.serve_streams(reader, writer).await
    });
    ours
}

async fn lists_calls_and_cancels(client: Client, running: Running) {
    let tools = client.list_all_tools().await.expect("it lists");
    assert!(tools.iter().any(|tool| tool.name == "add"));

    let arguments = json!({"a": 1, "b": 2})
        .as_object()
        .cloned()
        .expect("it is one");
    let params = CallToolRequestParams::new("add").with_arguments(arguments);
    let result = client.call_tool(params).await.expect("it answers");
    assert_eq!(result.structured_content, Some(json!({"sum": 3})));

    let hanging = client.call_tool(CallToolRequestParams::new("hang"));
    tokio::select! {
        _ = hanging => panic!("it never ends"),
        () = eventually("the call runs", || running.count() == 1) => {}
    }
    eventually("the call is dropped", || running.count() == 0).await;
    client.cancel().await.expect("it closes");
}

#[tokio::test]
async fn it_is_served_with_a_handshake() {
    let registry = permissive().build();
    let (tools, running) = tools();
    let _registration = registry.register(tools).expect("well defined");
    let client = ClientConfig::default()
        .serve(streams(&registry))
        .await
        .expect("it connects");
    lists_calls_and_cancels(client, running).await;
}

#[tokio::test]
async fn it_is_served_without_a_handshake() {
    let registry = permissive().build();
    let (tools, running) = tools();
    let _registration = registry.register(tools).expect("well defined");
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let client = ClientConfig::default()
        .serve_with_lifecycle(streams(&registry), lifecycle)
        .await
        .expect("it connects");
    lists_calls_and_cancels(client, running).await;
}
