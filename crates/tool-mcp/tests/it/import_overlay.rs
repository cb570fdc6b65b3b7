//! What the operator sets for servers and tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{Bound, Bounding, Capability, Concurrency, Namespace, State, Tool};
use tool_mcp::{FirstSight, Pins, ReadOnlyTools, Server, UpstreamState};
use tool_registry::MemoryState;

use crate::support::eventually;
use crate::support::imported::Imported;
use crate::support::peer::Peer;

fn tool(imported: &Imported, name: &str) -> Option<Tool> {
    let snapshot = imported.registry.snapshot();
    snapshot.get(name).map(|entry| entry.tool().clone())
}

fn refused(imported: &Imported) -> Vec<(String, String)> {
    match imported.status().state {
        UpstreamState::Ready { refused, .. } => refused
            .into_iter()
            .map(|tool| (tool.name, tool.reason))
            .collect(),
        other => panic!("the server is {}", other.as_str()),
    }
}

#[tokio::test]
async fn a_renamed_tool_is_called_by_its_new_name_and_is_what_it_was_to_rules_and_its_server() {
    let srv = Imported::dressed("ordinary", json!({"tools": {"poke": {"rename": "prod"}}})).await;
    assert!(tool(&srv, "srv__poke").is_none());
    assert_eq!(srv.call("prod", json!({})).await.text(), "poked");
    assert!(srv.was_called("poke"));
    let snapshot = srv.registry.snapshot();
    let entry = snapshot.get("srv__prod").expect("it is there");
    assert_eq!(entry.identity().to_string(), "srv/poke");
    assert!(srv.status().notes.is_empty());
}

#[tokio::test]
async fn a_tool_keeps_no_name_that_another_was_given() {
    let overlay = json!({"tools": {"poke": {"rename": "echo"}}});
    let srv = Imported::dressed("ordinary", overlay).await;
    assert_eq!(srv.call("echo", json!({})).await.text(), "poked");
    let reason = "tool \"poke\" was renamed to its name; rename this one as well";
    assert_eq!(refused(&srv), [("echo".to_owned(), reason.to_owned())]);
    let overlay = json!({"tools": {"poke": {"rename": "echo"}, "echo": {"rename": "poke"}}});
    let swapped = Imported::dressed("ordinary", overlay).await;
    assert_eq!(swapped.call("echo", json!({})).await.text(), "poked");
    assert!(
        swapped
            .call("poke", json!({"n": 7}))
            .await
            .text()
            .contains('7')
    );
    assert!(refused(&swapped).is_empty());
}

#[tokio::test]
async fn a_disabled_tool_is_neither_listed_nor_called_and_the_others_are() {
    let srv = Imported::dressed("ordinary", json!({"tools": {"poke": {"disabled": true}}})).await;
    assert!(tool(&srv, "srv__poke").is_none());
    assert!(srv.call("poke", json!({})).await.is_error());
    assert!(!srv.was_called("poke"));
    assert!(!srv.call("echo", json!({})).await.is_error());
    assert!(refused(&srv).is_empty());
}

#[tokio::test]
async fn a_tool_that_is_named_and_not_listed_is_told_of_with_the_nearest_one() {
    let overlay = json!({"tools": {"pokes": {"disabled": true}, "zzzzzzzzzz": {}}});
    let srv = Imported::dressed("ordinary", overlay).await;
    assert_eq!(
        srv.status().notes,
        [
            "the overlay names \"pokes\", which it does not list; did you mean \"poke\"?",
            "the overlay names \"zzzzzzzzzz\", which it does not list",
        ]
    );
}

#[tokio::test]
async fn what_is_set_for_a_tool_comes_ahead_of_what_is_set_for_all() {
    let overlay = json!({
        "capabilities": ["external_net"],
        "bound": {"bytes": 1000},
        "concurrency": "exclusive",
        "tools": {
            "poke": {
                "capabilities": [], "bound": {"bytes": 10, "lines": 2, "mode": "refuse"},
                "concurrency": {"key": "/path"}, "timeout": 5,
            },
            "echo": {"bound": {"mode": "truncate"}, "concurrency": "parallel"},
            "fail": {"bound": {"mode": "inline"}},
        },
    });
    let srv = Imported::dressed("ordinary", overlay).await;
    let of = |name: &str| {
        tool(&srv, name)
            .expect("it is there")
            .declarations()
            .clone()
    };
    let poke = of("srv__poke");
    assert_eq!(poke.capabilities, Some(vec![]));
    assert_eq!(
        poke.bounding,
        Bounding::Refuse(Bound::new(10, 2).expect("a bound"))
    );
    assert_eq!(poke.concurrency, Concurrency::ByKey("/path".into()));
    assert_eq!(poke.timeout, Some(Duration::from_secs(5)));
    let late = of("srv__late");
    assert_eq!(late.capabilities, Some(vec![Capability::ExternalNet]));
    assert_eq!(
        late.bounding,
        Bounding::Within(Bound::new(1000, 2000).expect("a bound"))
    );
    assert_eq!(
        (late.concurrency, late.timeout),
        (Concurrency::Exclusive, None)
    );
    let echo = of("srv__echo");
    assert_eq!(echo.bounding, Bounding::Truncate(Bound::DEFAULT));
    assert_eq!(echo.concurrency, Concurrency::Parallel);
    assert_eq!(of("srv__fail").bounding, Bounding::Inline);
}

#[tokio::test]
async fn a_server_has_times_of_its_own() {
    let overlay = json!({"timeout": {"idle": 3, "total": 9}, "tools": {"late": {"timeout": 2}}});
    let srv = Imported::dressed("ordinary", overlay).await;
    tokio::time::pause();
    let settlement = srv.call("wait", json!({})).await;
    let text = settlement.text();
    assert!(text.contains("did not answer within 3 seconds"), "{text}");
    assert_eq!(
        srv.call("late", json!({})).await.outcome.as_str(),
        "timed_out"
    );
    tokio::time::resume();
    let silent = Imported::start_dressed("silent", json!({"timeout": {"connect": 1}}), |it| it);
    silent.upstreams.settled().await;
    assert_eq!(silent.reason(), "was not ready within 1 s");
}

#[tokio::test]
async fn hints_are_shown_believed_or_withheld_as_the_operator_says() {
    for (hints, shown, believed) in [
        (json!(null), true, false),
        (json!("shown"), true, false),
        (json!("believed"), true, true),
        (json!("withheld"), false, false),
    ] {
        let reads = ReadOnlyTools::new();
        let overlay = json!({"hints": hints, "tools": {"echo": {"hints": "shown", "rename": "e"},
            "fail": {"rename": "f"}}});
        let srv = Imported::start_dressed("declared", overlay, |it| it.believed(reads.clone()));
        srv.upstreams.settled().await;
        let snapshot = srv.registry.snapshot();
        let entry = snapshot.get("srv__poke").expect("it is there");
        let annotations = &entry.definition().annotations;
        assert_eq!(annotations.read_only, shown);
        assert_eq!(annotations.destructive, !shown);
        assert_eq!(annotations.title.as_deref(), Some("Titled"));
        assert_eq!(reads.holds(entry.identity(), &entry.digest()), believed);
        let renamed = snapshot.get("srv__f").expect("it is there");
        assert_eq!(reads.holds(renamed.identity(), &renamed.digest()), believed);
        assert!(!reads.holds(renamed.identity(), &entry.digest()));
        let echo = snapshot.get("srv__e").expect("it is there");
        assert!(!reads.holds(echo.identity(), &echo.digest()));
        let (identity, digest) = (entry.identity().clone(), entry.digest());
        srv.upstreams.shutdown().await;
        assert!(!reads.holds(&identity, &digest));
    }
}

#[tokio::test]
async fn what_has_to_be_approved_is_not_used_at_first_sight() {
    let pins = Pins::new(Arc::new(MemoryState::default()) as Arc<dyn State>);
    let overlay = json!({"tools": {"echo": {"trust": "approve"}}});
    let start = |pins: &Pins| {
        Imported::start_dressed("ordinary", overlay.clone(), |it| it.pins(pins.clone()))
    };
    let srv = start(&pins);
    srv.upstreams.settled().await;
    assert!(tool(&srv, "srv__echo").is_none() && tool(&srv, "srv__poke").is_some());
    let name = Namespace::new("srv").expect("a name");
    let waiting = pins.changes(&name).await.expect("it is read");
    assert_eq!(waiting.len(), 1);
    pins.approve(&name, &waiting[0].code())
        .await
        .expect("it is kept");
    eventually("it is taken in", || tool(&srv, "srv__echo").is_some()).await;

    let stranger = Imported::start_dressed("ordinary", json!({"trust": "approve"}), |it| {
        it.pins(Pins::new(Arc::new(MemoryState::default()) as Arc<dyn State>))
    });
    stranger.upstreams.settled().await;
    assert_eq!(stranger.status().state.as_str(), "held");
    assert!(stranger.transcript().is_empty());
    // The other way: one server is trusted at once where others are not.
    let strict =
        Pins::new(Arc::new(MemoryState::default()) as Arc<dyn State>).first_sight(FirstSight::Hold);
    let known =
        Imported::start_dressed("ordinary", json!({"trust": "first"}), |it| it.pins(strict));
    known.upstreams.settled().await;
    assert!(tool(&known, "srv__echo").is_some());
}

#[tokio::test]
async fn without_a_place_for_approvals_what_needs_one_is_not_used() {
    let srv = Imported::dressed("ordinary", json!({"tools": {"echo": {"trust": "approve"}}})).await;
    assert!(tool(&srv, "srv__echo").is_none() && tool(&srv, "srv__poke").is_some());
    assert!(refused(&srv)[0].1.contains("there is no state"));
    let held = Imported::dressed("ordinary", json!({"trust": "approve"})).await;
    assert_eq!(held.status().state.as_str(), "held");
}

#[tokio::test]
async fn an_overlay_changes_nothing_of_what_is_pinned() {
    let pins = Pins::new(Arc::new(MemoryState::default()) as Arc<dyn State>);
    let name = Namespace::new("srv").expect("a name");
    let start = |overlay: Value| {
        let pins = pins.clone();
        async move {
            let srv = Imported::start_dressed("ordinary", overlay, |it| it.pins(pins));
            srv.upstreams.settled().await;
            srv
        }
    };
    let first = start(json!({"hints": "withheld", "tools": {"poke": {"rename": "prod"}, "echo": {"disabled": true}}})).await;
    assert_eq!(first.call("prod", json!({})).await.text(), "poked");
    let trusted = pins
        .trusted(&name)
        .await
        .expect("it is read")
        .expect("it is known");
    // What is disabled is seen all the same, so that switching it on is no new trust.
    assert_eq!(trusted.1, 21);
    first.upstreams.shutdown().await;

    // The folder of the fixture is another one each time: that is approved.
    let second = start(json!({})).await;
    let waiting = pins.changes(&name).await.expect("it is read");
    assert!(
        waiting.iter().all(|change| change.tool.is_none()),
        "{waiting:?}"
    );
    pins.approve(&name, &waiting[0].code())
        .await
        .expect("it is kept");
    eventually("it is started", || {
        second.status().state.as_str() == "ready"
    })
    .await;
    assert_eq!(second.call("poke", json!({})).await.text(), "poked");
    assert!(pins.changes(&name).await.expect("it is read").is_empty());
}

#[tokio::test]
async fn a_declaration_that_was_left_out_is_told_to_the_operator() {
    let srv = Imported::dressed("declared", json!({})).await;
    let notes = srv.status().notes;
    let of = |tool: &str| {
        let head = format!("tool \"{tool}\": declaration ");
        let notes = notes.iter().filter_map(|note| note.strip_prefix(&head));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        of("poke"),
        [
            "resultCeiling has no whole number of characters from 1 on and is left out",
            "resultColumns has a column that holds nothing known and is left out",
            "gates is neither true nor false and is left out",
            "repeatedWhen is not \"arguments\" and is left out",
        ]
    );
    assert_eq!(of("rich"), [""; 0]);
}

#[tokio::test]
async fn what_a_gateway_declares_comes_through_the_next_gateway() {
    let srv = Imported::dressed("declared", json!({})).await;
    let mut client = Peer::connect(&Server::new(srv.registry.clone())).await;
    let listed = client.ask(1, "tools/list", json!({})).await;
    let echo = listed["result"]["tools"]
        .as_array()
        .and_then(|tools| tools.iter().find(|tool| tool["name"] == "srv__echo"))
        .expect("it is listed");
    let declared = &echo["_meta"]["io.github.tool-runtime/declarations"];
    assert_eq!(
        declared["resultCeiling"],
        json!({"maxChars": 40, "narrowBy": ["n"]})
    );
}
