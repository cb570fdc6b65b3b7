//! What is told of retained output.

use std::sync::Arc;

use serde_json::json;
use tool_core::{
    Bound, Bounded, BoxFuture, Content, Digest, OutputPage, OutputStore, PageRequest, Retained,
    Retention, StoreError, StoreErrorKind,
};
use tool_mcp::Server;

use crate::support::peer::Peer;
use crate::support::registry::{permissive, tools};

/// A store that forgets.
struct Sieve;

impl OutputStore for Sieve {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        let text: String = retention
            .content
            .iter()
            .filter_map(Content::as_text)
            .collect();
        let kept = Retained::new("out_1", text.len() as u64, 1, Digest::of(text.as_bytes()));
        Box::pin(async move { Ok(Bounded::new(vec![Content::text("preview")], kept)) })
    }

    fn page<'a>(
        &'a self,
        _request: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "it is a sieve")) })
    }
}

#[tokio::test]
async fn a_client_finds_retained_output_under_one_key() {
    let registry = permissive()
        .outputs(Arc::new(Sieve))
        .bound(Bound::new(3, 1).expect("it is more than nothing"))
        .build();
    let _registration = registry.register(tools().0).expect("well defined");
    let mut peer = Peer::connect(&Server::new(registry)).await;
    let answer = peer.call(1, "greet", json!({})).await;
    assert_eq!(
        answer["result"],
        json!({
            "content": [
                {"type": "text", "text": "preview"},
                {
                    "type": "resource_link",
                    "uri": "tool-output:out_1",
                    "name": "out_1",
                    "title": "The whole output",
                    "description": "all 5 bytes and 1 lines of this output, in pages",
                    "mimeType": "text/plain",
                    "size": 5,
                },
            ],
            "isError": false,
            "_meta": {"tool-runtime/retained": [{"id": "out_1", "bytes": 5, "lines": 1}]},
        })
    );
}
