//! A server that points elsewhere wherever it can.

use serde_json::{Value, json};

use super::fixture::{answer, notify};

/// An address and a file, as two URIs with a blank between them.
pub(crate) const POINTS_AT: &str = "MCP_FIXTURE_POINTS_AT";

/// Whether the message has been dealt with here.
pub(crate) fn take(id: &Value, method: &str) -> bool {
    let uris = std::env::var(POINTS_AT).expect("it is told where to");
    let (address, file) = uris.split_once(' ').expect("there are two");
    let both = [address, file];
    match method {
        "initialize" => answer(
            id,
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
                "serverInfo": {"name": "fixture", "version": "1", "websiteUrl": address,
                    "icons": both.map(|src| json!({"src": src}))},
            }),
        ),
        "tools/list" => {
            let by_reference = |name: &str, schema: Value| {
                json!({"name": name, "inputSchema": schema,
                    "icons": both.map(|src| json!({"src": src}))})
            };
            let object = json!({"type": "object"});
            let mut outside = by_reference("outside", object.clone());
            outside["outputSchema"] = json!({"type": "object", "$ref": address});
            let tools = [
                by_reference("point", object),
                by_reference("address", json!({"type": "object", "$ref": address})),
                by_reference(
                    "file",
                    json!({"type": "object", "properties": {"a": {"$ref": file}}}),
                ),
                by_reference(
                    "dialect",
                    json!({"type": "object", "$schema": address, "$id": file}),
                ),
                outside,
            ];
            answer(id, json!({"tools": tools}));
        }
        "tools/call" => {
            let content = both.map(|uri| {
                [
                    json!({"type": "resource_link", "uri": uri, "name": "look"}),
                    json!({"type": "resource", "resource": {"uri": uri, "text": "in it"}}),
                    json!({"type": "text", "text": uri}),
                ]
            });
            for uri in both {
                notify("notifications/resources/updated", &json!({"uri": uri}));
            }
            answer(id, json!({"content": content.concat()}));
        }
        "resources/list" => {
            let resources = both.map(|uri| json!({"uri": uri, "name": "r"}));
            answer(id, json!({"resources": resources}));
        }
        "resources/templates/list" => {
            let template = json!({"uriTemplate": format!("{file}/{{a}}"), "name": "t"});
            answer(id, json!({"resourceTemplates": [template]}));
        }
        "resources/read" => answer(
            id,
            json!({"contents": both.map(|uri| json!({"uri": uri, "text": "the server's own"}))}),
        ),
        "prompts/list" => answer(id, json!({"prompts": [{"name": "p"}]})),
        "prompts/get" => {
            let message = both.map(|uri| {
                let content = json!({"type": "resource_link", "uri": uri, "name": "look"});
                json!({"role": "user", "content": content})
            });
            answer(id, json!({"messages": message}));
        }
        _ => return false,
    }
    true
}
