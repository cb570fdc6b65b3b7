//! Lists of imported tools.

use serde_json::json;
use tool_mcp::{ServersConfig, UpstreamState, Upstreams};
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::imported::{Imported, server};

fn names(registry: &Registry) -> Vec<String> {
    let snapshot = registry.snapshot();
    snapshot
        .definitions()
        .map(|definition| definition.name.to_string())
        .collect()
}

#[tokio::test]
async fn all_pages_are_listed() {
    let srv = Imported::new("paged").await;
    assert_eq!(names(&srv.registry), ["srv__a", "srv__b", "srv__c"]);
}

#[tokio::test]
async fn a_list_without_an_end_is_cut_and_says_so() {
    let srv = Imported::new("endless").await;
    let UpstreamState::Ready { tools, refused } = srv.status().state else {
        panic!("it is not ready");
    };
    assert_eq!(tools, 1);
    assert_eq!(
        refused.last().map(|refused| refused.reason.as_str()),
        Some("everything after the first 10000 tools")
    );
}

#[tokio::test]
async fn a_server_without_tools_is_ready() {
    let srv = Imported::new("no-tools").await;
    assert_eq!(
        srv.status().state,
        UpstreamState::Ready {
            tools: 0,
            refused: Vec::new()
        }
    );
}

#[tokio::test]
async fn a_hopeless_tool_is_refused_with_its_reason_and_no_other() {
    let srv = Imported::new("odd").await;
    assert_eq!(
        names(&srv.registry),
        ["srv__good", "srv__hints", "srv__typed"]
    );
    let UpstreamState::Ready { tools, refused } = srv.status().state else {
        panic!("it is not ready");
    };
    assert_eq!(tools, 3);
    let reason = |name: &str| {
        let found = refused.iter().find(|refused| refused.name == name);
        found
            .map(|refused| refused.reason.as_str())
            .unwrap_or_default()
    };
    assert!(reason("untyped").contains(r#""type": "object""#));
    assert_eq!(reason("schemaless"), "it has no input schema");
    assert!(reason("dialect").contains("schema"));
    assert!(reason("remote").contains("schema"));
    assert!(reason("dangling").contains("schema"));
    assert!(reason("good").contains("twice"));
    assert_eq!(refused.len(), 9);
}

#[tokio::test]
async fn what_a_server_leaves_out_or_garbles_is_read_with_care() {
    let srv = Imported::new("odd").await;
    let snapshot = srv.registry.snapshot();
    let definition = snapshot
        .get("srv__hints")
        .expect("it is registered")
        .definition();
    assert_eq!(definition.description, "Tool hints of server srv");
    assert_eq!(definition.annotations.title.as_deref(), Some("Hinted"));
    assert!(!definition.annotations.read_only);
    assert!(definition.annotations.idempotent);
    let typed = snapshot
        .get("srv__typed")
        .expect("it is registered")
        .definition();
    assert!(typed.output.is_some());
}

#[tokio::test]
async fn a_changed_list_is_fetched_again_and_registered_in_place() {
    let srv = Imported::new("ordinary").await;
    let before = srv.registry.snapshot();
    let mut changes = srv.registry.changes();
    srv.call("grow", json!({})).await;
    assert!(changes.changed().await);
    eventually("the list is the new one", || {
        names(&srv.registry) == ["srv__echo", "srv__grown"]
    })
    .await;
    assert!(matches!(
        srv.status().state,
        UpstreamState::Ready { tools: 2, .. }
    ));
    // What was captured before still calls.
    assert!(before.get("srv__poke").is_some());
    // Twice told within the debouncing time is fetched once: once at first, once after.
    let lists = srv
        .transcript()
        .iter()
        .filter(|message| message["method"] == "tools/list")
        .count();
    assert_eq!(lists, 2);
}

#[tokio::test]
async fn one_name_in_two_servers_is_two_tools_whatever_the_order() {
    let config = ServersConfig::default()
        .with(server("one", "ordinary"))
        .with(server("two", "ordinary"));
    let registry = Registry::default();
    let upstreams = Upstreams::builder(config).connect(&registry);
    upstreams.settled().await;
    let names = names(&registry);
    assert!(names.contains(&"one__echo".to_owned()));
    assert!(names.contains(&"two__echo".to_owned()));
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted);
}

#[tokio::test]
async fn lists_are_kept_as_they_came_where_that_is_asked_for() {
    let config = ServersConfig::default().with(server("srv", "odd"));
    let upstreams = Upstreams::builder(config.clone())
        .keep_lists()
        .connect(&Registry::default());
    upstreams.settled().await;
    let listed = upstreams.listed("srv").expect("it has listed its tools");
    assert_eq!(listed.len(), 12);
    assert!(listed.contains(&json!("no object")));
    assert_eq!(upstreams.listed("other"), None);
    let upstreams = Upstreams::builder(config).connect(&Registry::default());
    upstreams.settled().await;
    assert_eq!(upstreams.listed("srv"), None);
}
