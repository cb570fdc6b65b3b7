//! What servers have beside tools.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tool_core::{Call, Facts, Namespace};
use tool_mcp::{
    Completion, Limits, OfferErrorKind, OfferEvent, OfferKind, ServerConfig, ServersConfig,
    Upstreams,
};
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::imported::{Imported, server};
use crate::support::registry::permissive;
use crate::support::warnings::Warnings;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

#[tokio::test]
async fn no_server_writes_lines_of_the_log() {
    let warnings = Warnings::with("forged");
    // As long as one alone collects, the thread that comes to a place first is asked for all.
    let _another = tracing::Dispatch::new(Warnings::with("forged"));
    let _taking = tracing::subscriber::set_default(warnings.clone());
    let srv = Imported::new("offers-forging").await;
    let offers = srv.upstreams.offerings();
    let prompts = offers.list(OfferKind::Prompt).await.expect("none is one");
    assert!(prompts.is_empty());
    let told = warnings.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(!told[0].contains('\n'), "{told:?}");
    assert!(told[0].contains("no\\n2026-11-30 WARN forged"), "{told:?}");
}

#[tokio::test]
async fn resources_and_prompts_of_a_server_are_listed_read_and_completed() {
    let srv = Imported::new("offers").await;
    let offers = srv.upstreams.offerings();
    assert_eq!(offers.kinds(), OfferKind::ALL);

    let resources = offers.list(OfferKind::Resource).await.expect("it lists");
    let keys: Vec<_> = resources.iter().map(|offer| offer.key.as_str()).collect();
    assert_eq!(keys, ["test://a", "test://b"]);
    assert_eq!(resources[0].definition["description"], "seen");
    let read = offers.read("test://a").await.expect("it reads");
    assert_eq!(read["contents"][0]["text"], "read");
    let read = offers
        .read("test://t/9/x")
        .await
        .expect("a template has it");
    assert_eq!(read["contents"][0]["uri"], "test://t/9/x");

    let prompts = offers.list(OfferKind::Prompt).await.expect("it lists");
    assert_eq!(prompts[0].key, "srv__greet");
    assert_eq!(prompts[0].definition["name"], "srv__greet");
    assert_eq!(prompts[0].definition["title"], "Greets");
    let arguments = object(json!({"a": "b"}));
    let prompt = offers
        .prompt("srv__greet", arguments)
        .await
        .expect("it is got");
    let told = prompt["messages"][0]["content"]["text"]
        .as_str()
        .expect("text");
    let told: Value = serde_json::from_str(told).expect("it is JSON");
    assert_eq!(told["name"], "greet");
    assert_eq!(told["arguments"], json!({"a": "b"}));

    let mut events = offers.events();
    let argument = object(json!({"name": "id", "value": "1"}));
    let completion = Completion::new(OfferKind::Template, "test://t/{id}/x", argument);
    let completed = offers.complete(&completion).await.expect("it completes");
    let reference = completed["completion"]["values"][0].as_str().expect("text");
    let reference: Value = serde_json::from_str(reference).expect("it is JSON");
    assert_eq!(
        reference,
        json!({"type": "ref/resource", "uri": "test://t/{id}/x"})
    );
    assert_eq!(
        events.next().await,
        Some(OfferEvent::Updated {
            uri: "test://a".to_owned()
        })
    );
    assert_eq!(
        events.next().await,
        Some(OfferEvent::Logged {
            server: "srv".to_owned(),
            level: "warning".to_owned(),
            logger: Some("l".to_owned()),
            data: json!({"k": "v"}),
            to_caller: false,
        })
    );
}

#[tokio::test]
async fn the_first_server_by_name_has_a_resource_that_two_list_and_each_has_its_prompts() {
    let config = ServersConfig::default()
        .with(server("b", "offers"))
        .with(server("a", "offers"))
        .with(server("plain", "ordinary"))
        .with(ServerConfig::new(
            Namespace::new("gone").expect("legal"),
            "/nowhere/none",
        ));
    let upstreams = Upstreams::builder(config).connect(&Registry::default());
    upstreams.settled().await;
    let offers = upstreams.offerings();
    let resources = offers.list(OfferKind::Resource).await.expect("it lists");
    assert_eq!(resources.len(), 2);
    assert!(resources.iter().all(|offer| offer.server == "a"));
    let prompts = offers.list(OfferKind::Prompt).await.expect("it lists");
    let keys: Vec<_> = prompts.iter().map(|offer| offer.key.as_str()).collect();
    assert_eq!(keys, ["a__greet", "b__greet"]);
    let missing = offers.prompt("c__greet", Map::new()).await;
    let missing = missing.expect_err("nobody has it");
    assert_eq!(missing.kind(), OfferErrorKind::NotFound);
    upstreams.shutdown().await;
}

/// Two servers that list the same, and do not come back.
struct Two {
    registry: Registry,
    upstreams: Upstreams,
}

impl Two {
    fn start(a: ServerConfig, b: ServerConfig) -> Self {
        let hour = Duration::from_secs(3600);
        let registry = permissive().build();
        let upstreams = Upstreams::builder(ServersConfig::default().with(a).with(b))
            .limits(Limits::default().retry_after(hour, hour))
            .connect(&registry);
        Self {
            registry,
            upstreams,
        }
    }

    async fn becomes(&self, server: usize, state: &str) {
        eventually("it is so", || {
            self.upstreams.statuses()[server].state.as_str() == state
        })
        .await;
    }

    async fn a_ends(&self) {
        let call = Call::new("a__die", json!({}));
        self.registry.snapshot().settle(call, &Facts::new()).await;
        self.becomes(0, "away").await;
    }
}

#[tokio::test]
async fn what_a_server_has_is_nobody_elses_while_it_is_away() {
    let two = Two::start(server("a", "offers"), server("b", "offers"));
    two.upstreams.settled().await;
    let offers = two.upstreams.offerings();
    for uri in ["test://a", "test://t/1/x"] {
        offers.read(uri).await.expect("a has it");
    }
    two.a_ends().await;
    for uri in ["test://a", "test://t/1/x"] {
        let error = offers.read(uri).await.expect_err("a is away");
        assert_eq!(error.kind(), OfferErrorKind::Unavailable);
        assert_eq!(error.to_string(), "server a is not available");
    }
    // Nor is it listed as another's.
    let resources = offers.list(OfferKind::Resource).await.expect("it lists");
    assert!(resources.is_empty(), "{resources:?}");
    let error = offers.read("test://a").await.expect_err("a is away");
    assert_eq!(error.kind(), OfferErrorKind::Unavailable);
}

#[tokio::test]
async fn a_server_that_comes_later_has_what_is_its_own_at_once() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let flag = folder.path().join("begin");
    let waits = format!(
        "until test -e '{}'; do sleep 0.01; done; exec \"$0\" \"$@\"",
        flag.display()
    );
    let a = server("a", "offers").prefix(["sh".to_owned(), "-c".to_owned(), waits]);
    let two = Two::start(a, server("b", "offers"));
    two.becomes(1, "ready").await;
    let offers = two.upstreams.offerings();
    offers
        .read("test://a")
        .await
        .expect("nobody else is known to have it");
    // That may be one of those that have not come yet.
    let unlisted = offers.read("test://nobody/has").await;
    let unlisted = unlisted.expect_err("b is not the only one");
    assert_eq!(unlisted.kind(), OfferErrorKind::NotFound);
    std::fs::write(&flag, "").expect("it can be made");
    two.becomes(0, "ready").await;
    offers.read("test://a").await.expect("a has it");
    two.a_ends().await;
    let error = offers.read("test://a").await.expect_err("it is a's by now");
    assert_eq!(error.kind(), OfferErrorKind::Unavailable);
}

#[tokio::test]
async fn a_template_without_a_scheme_takes_nothing_from_others() {
    let two = Two::start(server("a", "offers-greedy"), server("b", "offers"));
    two.upstreams.settled().await;
    let offers = two.upstreams.offerings();
    let unlisted = offers.read("test://nobody/has").await;
    let unlisted = unlisted.expect_err("no template has it");
    assert_eq!(unlisted.kind(), OfferErrorKind::NotFound);
    two.a_ends().await;
    // Of b's own template.
    offers.read("test://t/1/x").await.expect("b has it");
    let templates = offers.list(OfferKind::Template).await.expect("it lists");
    assert_eq!(templates.len(), 1);
}

#[tokio::test]
async fn however_many_want_a_list_its_server_is_asked_once_at_a_time_and_nobody_gets_an_older_one()
{
    const CLIENTS: usize = 40;
    let srv = Imported::new("offers-held").await;
    let asked = || {
        let transcript = srv.transcript();
        let lists = transcript.iter();
        lists.filter(|it| it["method"] == "prompts/list").count()
    };
    let mut listing = JoinSet::new();
    let want = |listing: &mut JoinSet<usize>| {
        let offers = srv.upstreams.offerings();
        listing.spawn(async move {
            let prompts = offers.list(OfferKind::Prompt).await;
            prompts.expect("it lists").len()
        });
    };
    want(&mut listing);
    eventually("it is asked", || asked() == 1).await;
    for _ in 0..CLIENTS {
        want(&mut listing);
    }
    for round in [2, 3] {
        // Whoever came before has sent by now what it is going to send.
        assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
        let first = listing.join_next().await;
        assert_eq!(first.expect("one is there").expect("no panic"), 1);
        if round == 2 {
            // The others came while it was asked, and get one that was asked for after that.
            eventually("it is asked again", || asked() == 2).await;
            assert_eq!(listing.len(), CLIENTS);
        }
    }
    while let Some(listed) = listing.join_next().await {
        assert_eq!(listed.expect("no panic"), 1);
    }
    assert_eq!(asked(), 2);
}
