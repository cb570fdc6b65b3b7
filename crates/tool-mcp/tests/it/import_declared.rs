//! What servers declare of their tools.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::{Value, json};
use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactKind, ArtifactMeta, ArtifactStore, BoxFuture,
    Call, Column, ColumnType, Facts, Kept, Namespace, Owner, Payload, RepeatedWhen, ResultClass,
    Tool,
};
use tool_mcp::{HttpOptions, Limits, Overlay, Server, ServerConfig};
use tool_registry::{GroundedArguments, Registry, RegistryBuilder, Ungrounded};

use crate::import_http::{Remote, said};
use crate::support::eventually;
use crate::support::http_server::{Asked, HttpServer, Reply};
use crate::support::peer::Peer;
use crate::support::registry::permissive;
use crate::support::warnings::Warnings;

const KEY: &str = "io.github.tool-runtime/declarations";

async fn import(builder: RegistryBuilder, url: String) -> Remote {
    dressed(builder, url, &json!({})).await
}

async fn dressed(builder: RegistryBuilder, url: String, overlay: &Value) -> Remote {
    let name = Namespace::new("srv").expect("it is legal");
    let overlay = Overlay::read(&name, overlay).expect("it makes sense");
    let server = ServerConfig::http(name, url).overlay(overlay);
    Remote::of(builder.build(), server, Limits::default().retries(0)).await
}

fn declarations(registry: &Registry, tool: &str) -> String {
    let snapshot = registry.snapshot();
    let entry = snapshot.get(&format!("srv__{tool}"));
    let entry = entry.unwrap_or_else(|| panic!("{tool} is not there"));
    format!("{:?}", entry.tool().declarations())
}

fn listed(name: &str, bag: &Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "_meta": {KEY: bag}})
}

/// A server without a handshake that lists those tools.
fn lists(asked: &Asked, tools: &[Value], call: impl FnOnce(&Asked) -> Reply) -> Reply {
    match asked.method() {
        "server/discover" => asked.result(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}
        })),
        "tools/list" => asked.result(json!({"resultType": "complete", "tools": tools})),
        "tools/call" => call(asked),
        _ => asked.error(404, -32601),
    }
}

fn plain() -> Tool {
    Tool::dynamic("Plain", json!({"type": "object"}), |_, _| async {
        Ok(json!(1))
    })
}

fn whole() -> Tool {
    let most = NonZeroUsize::new(7_000).expect("it is not zero");
    plain()
        .ceiling(most)
        .narrow_by(["from", "to"])
        .result_class(ResultClass::Inventory)
        .result_kind(ArtifactKind::new("sales rows/1").expect("it is a word"))
        .result_columns([
            ("id", Column::new(ColumnType::Integer)),
            ("note", Column::new(ColumnType::String).nullable()),
        ])
        .owner(Owner::new("team", "search"))
        .arguments_from(["find", "odd name"])
        .composed_of(["find"])
        .gates(true)
        .repeated_when(RepeatedWhen::Arguments)
}

#[tokio::test]
async fn every_declaration_comes_over_as_it_was_made_and_none_without() {
    let origin = permissive().build();
    let tools = [("whole", whole()), ("plain", plain())];
    let _registration = origin.register(tools).expect("well defined");
    let address = "127.0.0.1:0".parse().expect("an address");
    let options = HttpOptions::new(address).allow_anyone_unchecked();
    let server = Server::new(origin);
    let served = server.serve_http(options).await.expect("a port is free");
    let remote = import(permissive(), served.url()).await;

    // Other tools of the server have its namespace here, as the tool itself has.
    let here = whole()
        .arguments_from(["srv__find", "srv__odd_name"])
        .composed_of(["srv__find"]);
    let snapshot = remote.registry.snapshot();
    let imported = snapshot.get("srv__whole").expect("it is there");
    let odd = imported.tool().declarations().arguments_from.clone();
    let odd = odd.expect("it is declared")[1].clone();
    assert!(odd.starts_with("srv__odd_name"), "{odd}");
    let here = here.arguments_from(["srv__find".to_owned(), odd.clone()]);
    let expected = format!("{:?}", here.declarations());
    assert_eq!(declarations(&remote.registry, "whole"), expected);
    assert_eq!(
        declarations(&remote.registry, "plain"),
        format!("{:?}", plain().declarations())
    );
    // What it is made of is there, not here.
    assert_eq!(remote.registry.missing_ingredients(), []);

    let mut peer = Peer::connect(&Server::new(remote.registry.clone())).await;
    let tools = peer.ask(1, "tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(tools[0].get("_meta"), None);
    assert_eq!(
        tools[1]["_meta"],
        json!({KEY: {
            "resultCeiling": {"maxChars": 7_000, "narrowBy": ["from", "to"]},
            "resultClass": "inventory",
            "resultKind": "sales rows/1",
            "resultColumns": {
                "id": {"type": "integer", "nullable": false},
                "note": {"type": "string", "nullable": true},
            },
            "owner": {"kind": "team", "id": "search"},
            "argumentsFrom": ["srv__find", odd],
            "composedOf": ["srv__find"],
            "gates": true,
            "repeatedWhen": "arguments",
        }})
    );
    served.shutdown().await;
}

/// Each field as it should be, and ways in which it makes no sense.
fn fields() -> Vec<(&'static str, Value, Vec<Value>)> {
    let long = "x".repeat(1_000);
    let many: Vec<_> = (0..1_000).map(|name| name.to_string()).collect();
    let columns: serde_json::Map<_, _> = (0..2_000)
        .map(|name| (name.to_string(), json!("string")))
        .collect();
    let names = |own: &str| {
        vec![
            json!(null),
            json!("find"),
            json!([]),
            json!([" "]),
            json!(["find", 5]),
            json!([own]),
            json!([long]),
            json!(many),
        ]
    };
    vec![
        (
            "resultCeiling",
            json!({"maxChars": 9}),
            vec![
                json!(null),
                json!(9),
                json!({"maxChars": 0}),
                json!({"maxChars": -5}),
                json!({"maxChars": 2.5}),
                json!({"maxChars": "9"}),
                json!({"maxChars": 9, "narrowBy": []}),
                json!({"maxChars": 9, "narrowBy": ["  "]}),
            ],
        ),
        (
            "resultClass",
            json!("triage"),
            vec![json!(null), json!("Triage"), json!(["triage"]), json!({})],
        ),
        (
            "resultKind",
            json!("rows"),
            vec![json!(null), json!(""), json!("   "), json!(5), json!(long)],
        ),
        (
            "resultColumns",
            json!({"id": "number"}),
            vec![
                json!(null),
                json!({}),
                json!(["id"]),
                json!({"id": "uuid"}),
                json!({" ": "number"}),
                json!({"id": {"type": "number", "nullable": "yes"}}),
                json!({"id": {}}),
                json!(columns),
            ],
        ),
        (
            "owner",
            json!({"kind": "team", "id": "a"}),
            vec![
                json!(null),
                json!("team"),
                json!({"kind": "team"}),
                json!({"kind": "team", "id": " "}),
                json!({"kind": 1, "id": "a"}),
            ],
        ),
        ("argumentsFrom", json!(["find"]), names("argumentsFrom-5")),
        ("composedOf", json!(["find"]), names("composedOf-5")),
        (
            "gates",
            json!(true),
            // That nobody has to wait is for no server to say.
            vec![json!(null), json!("yes"), json!(1), json!(false)],
        ),
        (
            "repeatedWhen",
            json!("arguments"),
            vec![json!(null), json!("always"), json!(true)],
        ),
    ]
}

#[tokio::test]
async fn a_field_that_makes_no_sense_is_left_out_alone_and_told_once() {
    let warnings = Warnings::with("left out");
    // As long as one alone collects, the thread that comes to a place first is asked for all.
    let _another = tracing::Dispatch::new(Warnings::with("left out"));
    let _taking = tracing::subscriber::set_default(warnings.clone());
    let good: serde_json::Map<_, _> = fields()
        .into_iter()
        .map(|(field, good, _)| (field.to_owned(), good))
        .collect();
    let mut tools = vec![listed("good", &json!(good))];
    let mut wrong = 0;
    for (field, _, malformed) in fields() {
        let mut without = good.clone();
        without.remove(field);
        tools.push(listed(&format!("{field}-none"), &json!(without)));
        for (number, value) in malformed.into_iter().enumerate() {
            let mut bag = without.clone();
            bag.insert(field.to_owned(), value);
            tools.push(listed(&format!("{field}-{number}"), &json!(bag)));
            wrong += 1;
        }
    }
    let lists = AtomicUsize::new(0);
    let server = HttpServer::start(move |asked| match (asked.verb.as_str(), asked.method()) {
        // Once it is overheard it says that its tools have changed, and they are listed again.
        ("GET", _) => {
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Reply::events(format!("data: {changed}\n\n"), true)
        }
        (_, "tools/list") => {
            let mut tools = tools.clone();
            if lists.fetch_add(1, Ordering::Relaxed) > 0 {
                tools.push(json!({"name": "later", "inputSchema": {"type": "object"}}));
            }
            asked.result(json!({ "tools": tools }))
        }
        (_, "initialize") => asked.result(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "old", "version": "1"},
        })),
        (_, "server/discover") => Reply::empty(400),
        _ => Reply::empty(202),
    })
    .await;
    let remote = import(permissive(), server.url()).await;
    eventually("it is listed again", || {
        remote.registry.snapshot().get("srv__later").is_some()
    })
    .await;

    let of = |tool: String| declarations(&remote.registry, &tool);
    let good = of("good".to_owned());
    for (field, _, malformed) in fields() {
        let without = of(format!("{field}-none"));
        assert_ne!(without, good, "{field}");
        for (number, value) in malformed.iter().enumerate() {
            assert_eq!(of(format!("{field}-{number}")), without, "{field}: {value}");
        }
    }
    let told = warnings.told();
    assert_eq!(told.len(), wrong);
    for (field, _, _) in fields() {
        let one = format!("tool=\"{field}-0\";field=\"{field}\"");
        assert_eq!(told.iter().filter(|line| line.contains(&one)).count(), 1);
    }
}

#[tokio::test]
async fn a_hostile_bag_harms_nobody_and_smuggles_nothing() {
    let warnings = Warnings::with("left out");
    // As long as one alone collects, the thread that comes to a place first is asked for all.
    let _another = tracing::Dispatch::new(Warnings::with("left out"));
    let _taking = tracing::subscriber::set_default(warnings.clone());
    let mut deep = json!(0);
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let smuggled = json!({
        "needs": {"credential": "bank"}, "checkIn": "never", "needsApproval": false,
        "wants": {"a": "rows"}, "capabilities": [], "timeout": 1, "bounding": "none",
        "asserts": true, "concurrency": "exclusive", "execute": "rm", "source": "host",
        "annotations": {"readOnlyHint": true}, "result_kind": "rows", "__proto__": {"gates": true},
    });
    let bags = [
        json!(null),
        json!(5),
        json!("gates"),
        json!([{"gates": true}]),
        json!({}),
        json!({"": "", "unknown": deep, "more": "x".repeat(100_000)}),
        smuggled,
    ];
    let mut tools: Vec<_> = bags
        .iter()
        .enumerate()
        .map(|(number, bag)| listed(&format!("tool-{number}"), bag))
        .collect();
    let count = tools.len();
    tools.push(json!({"name": "bare", "inputSchema": {"type": "object"}, "_meta": 5}));
    let floods = (0..600).map(|number| listed(&format!("flood-{number}"), &json!({"gates": deep})));
    tools.extend(floods);
    let server =
        HttpServer::start(move |asked| lists(asked, &tools, |asked| asked.result(said("heard"))))
            .await;
    let remote = import(permissive(), server.url()).await;
    let bare = format!("{:?}", plain().declarations());
    let names = (0..count).map(|number| format!("tool-{number}"));
    for name in names.chain(["bare".to_owned(), "flood-599".to_owned()]) {
        assert_eq!(declarations(&remote.registry, &name), bare, "{name}");
    }
    // So many are told, and that there are more.
    assert_eq!(warnings.told().len(), 501);
    assert_eq!(remote.call("tool-6", json!({})).await.text(), "heard");
}

/// A store that takes everything and remembers the kinds.
#[derive(Clone, Default)]
struct Kinds(Arc<Mutex<Vec<String>>>);

impl ArtifactStore for Kinds {
    fn get<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async { Ok(None) })
    }

    fn put<'a>(
        &'a self,
        _: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        let now = SystemTime::UNIX_EPOCH;
        let media = payload.media_type();
        let meta = ArtifactMeta::of_draft(draft, "art_1".into(), media, 1, now);
        let mut kinds = self.0.lock().expect("no panic");
        kinds.push(meta.kind.to_string());
        Box::pin(async { Ok(Kept::new(meta, Vec::new())) })
    }
}

#[tokio::test]
async fn the_kind_that_a_server_declares_is_the_one_under_which_its_results_are_kept() {
    let tools = [
        listed("rows", &json!({"resultKind": "sales rows"})),
        json!({"name": "plain", "inputSchema": {"type": "object"}}),
    ];
    let server = HttpServer::start(move |asked| {
        lists(asked, &tools, |asked| asked.result(said("a long result")))
    })
    .await;
    let kinds = Kinds::default();
    let builder = permissive().artifacts(kinds.clone());
    let remote = import(builder.place_above(NonZeroUsize::MIN), server.url()).await;
    for tool in ["rows", "plain"] {
        let text = remote.call(tool, json!({})).await.text();
        assert!(text.contains("\"placed\":true"), "{text}");
    }
    let kinds = kinds.0.lock().expect("no panic").clone();
    assert_eq!(kinds, ["sales rows", "tool-result/srv__plain"]);
}

#[tokio::test]
async fn where_arguments_come_from_by_a_servers_word_is_checked_and_not_without_it() {
    let tools = [
        listed("show", &json!({"argumentsFrom": ["find"]})),
        json!({"name": "find", "inputSchema": {"type": "object"}}),
        json!({"name": "plain", "inputSchema": {"type": "object"}}),
    ];
    let server = HttpServer::start(move |asked| {
        lists(asked, &tools, |asked| {
            asked.result(json!({"content": [], "structuredContent": {"id": "row-7"}}))
        })
    })
    .await;
    let findings = Arc::new(Mutex::new(Vec::new()));
    let found = Arc::clone(&findings);
    let observer = GroundedArguments::new(move |finding: &Ungrounded| {
        let told = (finding.tool.to_string(), finding.arguments.join(","));
        found.lock().expect("no panic").push(told);
    });
    // The operator's name for a tool is the one under which others find it.
    let overlay = json!({"tools": {"find": {"rename": "search"}}});
    let remote = dressed(permissive().after(observer), server.url(), &overlay).await;
    let facts = Facts::new().run("r1");
    for (tool, id) in [
        ("plain", "made up"),
        ("search", "made up"),
        ("show", "row-7"),
        ("show", "made up"),
    ] {
        let call = Call::new(format!("srv__{tool}"), json!({"id": id}));
        let settling = remote.registry.snapshot().settle(call, &facts);
        assert!(!settling.await.is_error(), "{tool}");
    }
    let findings = findings.lock().expect("no panic").clone();
    assert_eq!(findings, [("srv/show".to_owned(), "/id".to_owned())]);
}
