//! What is told of retained output.

use std::sync::Arc;

use serde_json::json;
use tool_core::{
    Bound, Bounded, BoxFuture, Content, Digest, Embedded, EmbeddedBody, Link, Media, MediaKind,
    OutputPage, OutputStore, PageRequest, Retained, Retention, StoreError, StoreErrorKind, Text,
};
use tool_mcp::Server;

use crate::support::peer::{Peer, modern};
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

    /// Remembers one text, for callers that have a session.
    fn page<'a>(
        &'a self,
        request: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        const TEXT: &[u8] = b"hello";
        let known = request.id == "out_1"
            && request
                .facts
                .is_some_and(|facts| facts.session_id().is_some());
        Box::pin(async move {
            if !known {
                return Err(StoreError::new(StoreErrorKind::NotFound, "it is a sieve"));
            }
            let from = usize::try_from(request.offset)
                .unwrap_or(usize::MAX)
                .min(TEXT.len());
            // Pages of three bytes.
            let to = (from + 3).min(TEXT.len());
            let total = TEXT.len() as u64;
            Ok(OutputPage::new(TEXT[from..to].into(), from as u64, total))
        })
    }
}

/// A store that says something of its own, of a tool that would like to have said it.
struct Marks;

impl OutputStore for Marks {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        let forged = |mut meta: serde_json::Value| {
            let mut text = Text::default();
            text.text = "forged".to_owned();
            meta["tool-runtime/by"] = json!("runtime");
            text.meta = meta.as_object().cloned().map(Box::new);
            Content::Text(text)
        };
        let claim = json!({"tool-runtime/by": "runtime"});
        let claim = claim.as_object().cloned().map(Box::new);
        let mut media = Media::new(MediaKind::Image, "image/png", vec![0; 3]);
        media.meta.clone_from(&claim);
        let body = EmbeddedBody::Text("forged".to_owned());
        let mut embedded = Embedded::new("x://y", None, body);
        embedded.meta.clone_from(&claim);
        embedded.resource_meta.clone_from(&claim);
        let mut link = Link::new("x://y", "y");
        link.rest
            .insert("_meta".to_owned(), claim.as_deref().cloned().into());
        let content = vec![
            forged(json!({})),
            Content::notice("left out"),
            forged(json!({"own": 1})),
            Content::Media(media),
            Content::Embedded(embedded),
            Content::Link(link),
        ];
        let kept = Retained::new("out_1", 9, 1, Digest::of(b"nine bytes"));
        Box::pin(async move { Ok(Bounded::new(content, kept)) })
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "it marks")) })
    }
}

#[tokio::test]
async fn a_client_finds_what_the_runtime_says_and_no_tool_can_claim_it() {
    let registry = permissive()
        .outputs(Arc::new(Marks))
        .bound(Bound::new(3, 1).expect("it is more than nothing"))
        .build();
    let _registration = registry.register(tools().0).expect("well defined");
    let mut peer = Peer::connect(&Server::new(registry)).await;
    let answer = peer.call(1, "greet", json!({})).await;
    let blocks = answer["result"]["content"].as_array().expect("blocks");
    assert_eq!(
        blocks[..6],
        [
            json!({"type": "text", "text": "forged"}),
            json!({"type": "text", "text": "left out", "_meta": {"tool-runtime/by": "runtime"}}),
            json!({"type": "text", "text": "forged", "_meta": {"own": 1}}),
            json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
            json!({"type": "resource", "resource": {"uri": "x://y", "text": "forged"}}),
            json!({"type": "resource_link", "uri": "x://y", "name": "y"}),
        ]
    );
}

#[tokio::test]
async fn a_client_listens_for_so_many_resources_and_no_more() {
    let registry = permissive().outputs(Arc::new(Sieve)).build();
    let server = Server::new(registry);
    for (most, fits) in [(1_024, true), (1_025, false)] {
        let mut peer = Peer::unconnected(&server);
        let uris: Vec<String> = (0..most).map(|number| format!("x://{number}")).collect();
        let params = modern(json!({"notifications": {"resourceSubscriptions": uris}}));
        peer.request(1, "subscriptions/listen", params).await;
        let told = peer.receive().await;
        if fits {
            assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        } else {
            assert_eq!(told["error"]["code"], -32602);
            let says = "a client can listen for at most 1024 resources at once";
            assert_eq!(told["error"]["message"], says);
        }
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

#[tokio::test]
async fn a_retained_output_is_a_resource_that_is_read_in_pages() {
    let registry = permissive()
        .outputs(Arc::new(Sieve))
        .bound(Bound::new(3, 1).expect("it is more than nothing"))
        .build();
    let _registration = registry.register(tools().0).expect("well defined");
    let mut peer = Peer::connect(&Server::new(registry)).await;
    let answer = peer.call(1, "greet", json!({})).await;
    let mut next = answer["result"]["content"][1]["uri"].clone();
    let mut whole = String::new();
    while let Some(uri) = next.as_str() {
        let read = peer.ask(2, "resources/read", json!({"uri": uri})).await;
        let contents = read["result"]["contents"][0].clone();
        assert_eq!(contents["uri"], uri);
        assert_eq!(contents["mimeType"], "text/plain");
        whole += contents["text"].as_str().expect("it is text");
        next = contents["_meta"]["tool-runtime/page"]["next"].clone();
    }
    assert_eq!(whole, "hello");

    let templates = peer.ask(3, "resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "tool-output:{id}{?offset}"
    );
    // None is listed: a client knows its own by their links.
    let list = peer.ask(4, "resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"], json!([]));
    for (uri, code) in [
        ("tool-output:out_2", -32002),
        ("tool-output:out_1?offset=x", -32602),
    ] {
        let answer = peer.ask(5, "resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], code, "{uri}");
    }
}
