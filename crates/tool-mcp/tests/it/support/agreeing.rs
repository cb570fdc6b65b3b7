//! A client that answers whatever it is asked, in either era.

use serde_json::{Map, Value, json};
use tool_mcp::Server;

use super::peer::Peer;

/// In which era a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Handshake,
    Stateless,
}

/// A client that answers whatever it is asked.
pub(crate) struct Agreeing {
    peer: Peer,
    speaks: Speaks,
    next: u64,
    /// What it was asked: the method and the parameters.
    pub(crate) asked: Vec<(String, Value)>,
    /// What it was told.
    pub(crate) told: Vec<Value>,
}

fn able() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

impl Agreeing {
    pub(crate) async fn of(server: &Server, speaks: Speaks) -> Self {
        let mut client = Self {
            peer: Peer::unconnected(server),
            speaks,
            next: 0,
            asked: Vec::new(),
            told: Vec::new(),
        };
        if speaks == Speaks::Handshake {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": able(),
                "clientInfo": {"name": "test", "version": "1"},
            });
            client.ask("initialize", params).await;
            let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            client.peer.send(&begun).await;
        }
        client
    }

    /// The answer to a request, whatever was asked before: its result or its error.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.exchange(method, params.clone()).await;
        while answer["result"]["resultType"] == "input_required" {
            answer = self.round(method, &params, &answer, usize::MAX).await;
        }
        answer
    }

    /// The answer to the next round of a request, in which so many of the questions that the one
    /// before ended with are answered.
    pub(crate) async fn round(
        &mut self,
        method: &str,
        params: &Value,
        before: &Value,
        most: usize,
    ) -> Value {
        let mut responses = Map::new();
        let wanted = before["result"]["inputRequests"].as_object();
        for (key, wanted) in wanted.into_iter().flatten().take(most) {
            let method = wanted["method"].as_str().expect("it is a request");
            responses.insert(key.clone(), self.agree(method, &wanted["params"]));
        }
        let mut round = params.clone();
        round["inputResponses"] = responses.into();
        round["requestState"] = before["result"]["requestState"].clone();
        self.exchange(method, round).await
    }

    /// Sends a request and takes what comes until it is answered.
    pub(crate) async fn exchange(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        if self.speaks == Speaks::Stateless {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = able();
        }
        self.peer.request(id, method, params).await;
        loop {
            let message = self.peer.receive().await;
            match message["method"].as_str() {
                None if message["id"] == id => return message,
                Some(asked) if message.get("id").is_some() => {
                    let result = self.agree(asked, &message["params"]);
                    let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                    self.peer.send(&reply).await;
                }
                _ => self.told.push(message),
            }
        }
    }

    fn agree(&mut self, method: &str, params: &Value) -> Value {
        self.asked.push((method.to_owned(), params.clone()));
        match method {
            "elicitation/create" => {
                let fields = params["requestedSchema"]["properties"].as_object();
                let content: Map<String, Value> = fields
                    .into_iter()
                    .flatten()
                    .map(|(name, field)| (name.clone(), value(field)))
                    .collect();
                json!({"action": "accept", "content": content})
            }
            "roots/list" => json!({"roots": [{"uri": "file:///srv", "name": "srv"}]}),
            _ => json!({
                "role": "assistant",
                "content": {"type": "text", "text": "Paris"},
                "model": "test",
            }),
        }
    }
}

fn value(field: &Value) -> Value {
    match (field.get("default"), field["type"].as_str()) {
        (Some(default), _) => default.clone(),
        (_, Some("boolean")) => true.into(),
        (_, Some("array")) => json!([]),
        _ => "Ada".into(),
    }
}
