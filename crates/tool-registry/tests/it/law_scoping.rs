//! Laws 4, 5 and 12: what is registered, what a request captures, and what is advertised.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use tool_core::{Call, Facts, Namespace, Source, Tool};
use tool_registry::{Registration, Registry, Snapshot};

use crate::ports::{Log, open};
use crate::tools::{call, echo, fixed, run};

/// A tool that is told from others by its description, and says the same when it runs.
fn numbered(number: usize) -> Tool {
    let said = format!("tool {number}");
    Tool::dynamic(said.clone(), json!({"type": "object"}), move |_, _| {
        let said = said.clone();
        async move { Ok(json!(said)) }
    })
}

fn advertised(snapshot: &Snapshot) -> BTreeMap<String, String> {
    snapshot
        .definitions()
        .map(|definition| (definition.name.to_string(), definition.description.clone()))
        .collect()
}

/// What a test does to a registry.
#[derive(Clone, Debug)]
enum Step {
    /// Registers tools under some of the names.
    Register(Vec<usize>),
    /// Drops the live registration that stands there, counted round.
    Drop(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let names = prop::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 1..=NAMES.len());
    let step = prop_oneof![
        3 => names.prop_map(Step::Register),
        2 => any::<usize>().prop_map(Step::Drop),
    ];
    prop::collection::vec(step, 1..24)
}

const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn law_04_dropping_a_registration_removes_exactly_it_and_reveals_the_one_below(
        steps in steps()
    ) {
        let registry = Registry::default();
        // The model: a stack of numbers for each name, and who put which number where.
        let mut stacks: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut live: Vec<(usize, Registration)> = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Register(names) => {
                    let tools = names.iter().map(|name| (NAMES[*name], numbered(number)));
                    live.push((number, registry.register(tools).unwrap()));
                    for name in names {
                        stacks.entry(NAMES[name]).or_default().push(number);
                    }
                }
                Step::Drop(_) if live.is_empty() => {}
                Step::Drop(index) => {
                    let (gone, registration) = live.remove(index % live.len());
                    drop(registration);
                    for stack in stacks.values_mut() {
                        stack.retain(|number| *number != gone);
                    }
                }
            }
            let expected: BTreeMap<String, String> = stacks
                .iter()
                .filter_map(|(name, stack)| {
                    Some(((*name).to_owned(), format!("tool {}", stack.last()?)))
                })
                .collect();
            prop_assert_eq!(advertised(&registry.snapshot()), expected);
        }
    }
}

#[test]
fn law_04_closing_is_dropping_and_a_kept_registration_outlives_its_guard() {
    let registry = Registry::default();
    let below = registry.register([("echo", numbered(1))]).unwrap();
    let above = registry.register([("echo", numbered(2))]).unwrap();
    assert_eq!(advertised(&registry.snapshot())["echo"], "tool 2");
    above.close();
    assert_eq!(advertised(&registry.snapshot())["echo"], "tool 1");
    below.keep();
    assert_eq!(advertised(&registry.snapshot())["echo"], "tool 1");
}

#[test]
fn law_04_a_registration_below_can_go_first() {
    let registry = Registry::default();
    let below = registry.register([("echo", numbered(1))]).unwrap();
    let above = registry.register([("echo", numbered(2))]).unwrap();
    drop(below);
    assert_eq!(advertised(&registry.snapshot())["echo"], "tool 2");
    drop(above);
    assert!(registry.snapshot().get("echo").is_none());
}

#[test]
fn law_04_the_guard_alone_keeps_a_registration_not_the_task_that_made_it() {
    let registry = Registry::default();
    let registration = {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let registry = registry.clone();
        runtime.block_on(async move { registry.register([("echo", numbered(1))]).unwrap() })
        // The runtime and the task are gone here.
    };
    assert_eq!(registry.snapshot().entries().len(), 1);
    drop(registration);
    assert_eq!(registry.snapshot().entries().len(), 0);
}

#[tokio::test]
async fn law_04_cancelling_the_task_that_registered_takes_nothing_back() {
    let registry = Registry::default();
    let (hand_over, handed) = tokio::sync::oneshot::channel();
    let registering = {
        let registry = registry.clone();
        tokio::spawn(async move {
            let registration = registry.register([("echo", numbered(1))]).unwrap();
            hand_over.send(registration).unwrap();
            std::future::pending::<()>().await;
        })
    };
    let registration = handed.await.unwrap();
    registering.abort();
    assert!(registering.await.unwrap_err().is_cancelled());
    assert_eq!(advertised(&registry.snapshot())["echo"], "tool 1");
    drop(registration);
    assert!(registry.snapshot().get("echo").is_none());
}

#[tokio::test]
async fn law_05_a_call_executes_what_its_request_advertised() {
    let registry = open().build();
    let first = registry.register([("echo", numbered(1))]).unwrap();
    let request = registry.snapshot();
    let overlay = registry.register([("echo", numbered(2))]).unwrap();

    let said = |snapshot: Snapshot| async move {
        let call = Call::new("echo", "{}");
        snapshot.settle(call, &Facts::new()).await.text()
    };
    assert_eq!(said(request.clone()).await, "tool 1");
    assert_eq!(said(registry.snapshot()).await, "tool 2");
    drop(overlay);
    drop(first);
    assert_eq!(said(request.clone()).await, "tool 1");
    assert!(registry.snapshot().get("echo").is_none());
    assert_eq!(advertised(&request)["echo"], "tool 1");
}

#[tokio::test]
async fn law_05_a_tool_that_is_dropped_while_it_runs_runs_on() {
    let registry = open().build();
    let (started, release) = (
        std::sync::Arc::new(tokio::sync::Notify::new()),
        std::sync::Arc::new(tokio::sync::Notify::new()),
    );
    let tool = {
        let (started, release) = (started.clone(), release.clone());
        run(move |_| {
            let (started, release) = (started.clone(), release.clone());
            async move {
                started.notify_one();
                release.notified().await;
                Ok(json!("ran to its end"))
            }
        })
    };
    let registration = registry.register([("slow", tool)]).unwrap();
    let running = call(&registry, "slow");
    let meanwhile = async {
        started.notified().await;
        drop(registration);
        let _other = registry.register([("slow", numbered(9))]).unwrap();
        release.notify_one();
    };
    let (settled, ()) = futures_util::future::join(running, meanwhile).await;
    assert_eq!(settled.text(), "ran to its end");
}

#[test]
fn law_05_changing_what_the_caller_registered_from_changes_nothing() {
    let registry = Registry::default();
    let mut tools = BTreeMap::from([("echo".to_owned(), numbered(1))]);
    let _registration = registry
        .register(tools.iter().map(|(name, tool)| (name, tool.clone())))
        .unwrap();
    tools.insert("echo".to_owned(), numbered(2));
    tools.insert("other".to_owned(), numbered(3));
    assert_eq!(
        advertised(&registry.snapshot()),
        BTreeMap::from([("echo".to_owned(), "tool 1".to_owned())])
    );
}

/// The tools of law 12, each with its source.
fn sorts() -> Vec<(Source, &'static str, Tool)> {
    let acme = Source::Plugin(Namespace::new("acme").unwrap());
    let files = Source::Server(Namespace::new("files.local").unwrap());
    vec![
        (
            Source::Host,
            "echo",
            echo().read_only().title("Echo").into(),
        ),
        (Source::Host, "db.query", fixed("rows")),
        (Source::Host, "db_query", fixed("rows")),
        (acme.clone(), "echo", echo().into()),
        (acme, "2d_scene", numbered(3)),
        (
            files,
            "get item",
            numbered(4).output_schema(json!({"type": "string", "minLength": 1})),
        ),
    ]
}

fn bytes(order: &[usize]) -> String {
    let (registry, sorts) = (Registry::default(), sorts());
    let mut guards = Vec::new();
    for index in order {
        let (source, name, tool) = sorts[*index].clone();
        guards.push(registry.registrar(source).register([(name, tool)]).unwrap());
    }
    let definitions: Vec<_> = registry.snapshot().definitions().cloned().collect();
    serde_json::to_string(&definitions).unwrap()
}

proptest! {
    #[test]
    fn law_12_any_order_of_registering_gives_the_same_bytes(
        order in Just((0..sorts().len()).collect::<Vec<_>>()).prop_shuffle()
    ) {
        let sorted: Vec<_> = (0..sorts().len()).collect();
        prop_assert_eq!(bytes(&order), bytes(&sorted));
    }
}

#[test]
fn law_12_any_process_gives_the_same_bytes() {
    const TEST: &str = "law_scoping::law_12_any_process_gives_the_same_bytes";
    const CHILD: &str = "TOOL_REGISTRY_TEST_CHILD";
    const MARK: &str = "definitions:";
    let here = bytes(&[0, 1, 2, 3, 4, 5]);
    if std::env::var_os(CHILD).is_some() {
        println!("\n{MARK}{here}");
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8(child.stdout).unwrap();
    let there: Vec<_> = said
        .lines()
        .filter_map(|line| line.strip_prefix(MARK))
        .collect();
    assert_eq!(there, [here.as_str()]);
}

#[test]
fn law_12_a_definition_says_what_it_always_said() {
    let definitions: serde_json::Value = serde_json::from_str(&bytes(&[5, 4, 3, 2, 1, 0])).unwrap();
    let log = Log::default();
    for definition in definitions.as_array().unwrap() {
        log.write(tool_core::canonical_json(definition));
    }
    insta::assert_snapshot!(log.lines().join("\n"), @r#"
    {"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false},"description":"tool 3","inputSchema":{"type":"object"},"name":"acme__2d_scene"}
    {"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false},"description":"Says what it is told","inputSchema":{"additionalProperties":false,"properties":{"text":{"description":"What to say.","type":"string"}},"required":["text"],"type":"object"},"name":"acme__echo","outputSchema":{"type":"string"}}
    {"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false},"description":"Says one thing","inputSchema":{"type":"object"},"name":"db_query"}
    {"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false},"description":"Says one thing","inputSchema":{"type":"object"},"name":"db_query-xec9ab0bb7936"}
    {"annotations":{"destructiveHint":false,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":true,"title":"Echo"},"description":"Says what it is told","inputSchema":{"additionalProperties":false,"properties":{"text":{"description":"What to say.","type":"string"}},"required":["text"],"type":"object"},"name":"echo","outputSchema":{"type":"string"}}
    {"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false},"description":"tool 4","inputSchema":{"type":"object"},"name":"files_local__get_item-x2ddbfd31ebcd","outputSchema":{"minLength":1,"type":"string"}}
    "#);
}
