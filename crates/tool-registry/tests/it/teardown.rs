//! Cleanups after a call, a run, a session and at the end.

use serde_json::json;
use tool_core::{
    BoxFuture, Call, Context, Facts, Identification, Registered, TeardownEnd, TeardownError,
    TeardownScope, Tool, ToolFailure,
};
use tool_registry::{Door, Registry};

use crate::ports::{Log, open};
use crate::tools::{call, run};

/// A tool that registers a cleanup for each key, in one scope.
fn cleaning(log: &Log, scope: TeardownScope, keys: &'static [&'static str]) -> Tool {
    let log = log.clone();
    run(move |cx: Context| {
        let log = log.clone();
        async move {
            for key in keys {
                let line = log.clone();
                let registered = cx.on_teardown(scope, key, move || async move {
                    line.write(format!("cleaned {key}"));
                })?;
                if let Registered::Reused { times } = registered {
                    log.write(format!("{key} again, {times} times"));
                }
            }
            log.write("ran");
            Ok(json!(null))
        }
    })
}

async fn settle(registry: &Registry, facts: &Facts) {
    let settled = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), facts)
        .await;
    assert!(!settled.is_error(), "{}", settled.text());
}

#[tokio::test]
async fn cleanups_of_a_call_run_when_it_ends_the_last_first_and_each_key_once() {
    let log = Log::default();
    let registry = open().build();
    let tool = cleaning(&log, TeardownScope::Call, &["a", "b", "a"]);
    let _tool = registry.register([("tool", tool)]).unwrap();
    settle(&registry, &Facts::new()).await;
    assert_eq!(
        log.lines(),
        ["a again, 2 times", "ran", "cleaned b", "cleaned a"]
    );
    settle(&registry, &Facts::new()).await;
    assert_eq!(log.lines().len(), 8);
}

#[tokio::test]
async fn cleanups_of_a_call_run_also_after_a_failure_a_panic_and_a_timeout() {
    type End = fn() -> Option<ToolFailure>;
    let cases: [(&str, End); 3] = [
        ("fail", || Some(ToolFailure::new("no"))),
        ("panic", || panic!("canary")),
        ("wait", || None),
    ];
    for (name, end) in cases {
        let log = Log::default();
        let seen = log.clone();
        let tool = run(move |cx: Context| {
            let seen = seen.clone();
            async move {
                cx.on_teardown(TeardownScope::Call, "k", move || async move {
                    seen.write("cleaned");
                })?;
                match end() {
                    Some(failure) => Err(failure.into()),
                    None => std::future::pending().await,
                }
            }
        })
        .timeout(std::time::Duration::from_millis(10));
        let registry = open().build();
        let _tool = registry.register([("tool", tool)]).unwrap();
        assert!(call(&registry, "tool").await.is_error());
        assert_eq!(log.lines(), ["cleaned"], "{name}");
    }
}

#[tokio::test]
async fn runs_and_sessions_of_one_id_are_those_of_each_tenant_and_principal() {
    let of = |facts: Facts, tenant: &str, principal: &str| {
        facts.identity(Identification::principal(principal).tenant(tenant))
    };
    type End = fn(Registry, Facts) -> BoxFuture<'static, usize>;
    let ends: [(TeardownScope, Facts, End); 2] = [
        (
            TeardownScope::Run,
            Facts::new().run("1"),
            |registry, facts| Box::pin(async move { registry.end_run(&facts).await.len() }),
        ),
        (
            TeardownScope::Session,
            Facts::new().session("1"),
            |registry, facts| Box::pin(async move { registry.end_session(&facts).await.len() }),
        ),
    ];
    for (scope, facts, end) in ends {
        let log = Log::default();
        let registry = open().build();
        let tool = cleaning(&log, scope, &["k"]);
        registry.register([("tool", tool)]).unwrap().keep();
        let callers = [
            facts.clone(),
            facts.clone().identity(Identification::principal("ada")),
            of(facts.clone(), "acme", "ada"),
            of(facts.clone(), "acme", "bob"),
            of(facts.clone(), "other", "ada"),
            of(facts.clone(), "", "ada"),
        ];
        for caller in &callers {
            settle(&registry, caller).await;
        }
        // None of them was taken for another's, which would have been kept in its place.
        assert_eq!(log.lines(), ["ran"; 6], "{scope}");
        for (ended, caller) in callers.iter().enumerate() {
            assert_eq!(end(registry.clone(), caller.clone()).await, 1, "{scope}");
            let cleaned = log
                .lines()
                .iter()
                .filter(|line| *line == "cleaned k")
                .count();
            assert_eq!(cleaned, ended + 1, "{scope}");
            assert_eq!(end(registry.clone(), caller.clone()).await, 0, "{scope}");
        }
        // Who names nothing ends nothing.
        settle(&registry, &callers[2]).await;
        assert_eq!(
            end(registry.clone(), of(Facts::new(), "acme", "ada")).await,
            0
        );
        assert_eq!(registry.shut_down().await.len(), 1);
    }
}

#[tokio::test]
async fn cleanups_of_a_run_and_a_session_wait_for_their_end_and_are_counted() {
    let log = Log::default();
    let registry = open().build();
    let _run = registry
        .register([("tool", cleaning(&log, TeardownScope::Run, &["r"]))])
        .unwrap();
    let facts = Facts::new().run("run1").session("s1");
    settle(&registry, &facts).await;
    settle(&registry, &Facts::new().run("run2")).await;
    assert!(!log.lines().contains(&"cleaned r".to_owned()));
    let reports = registry.end_run(&Facts::new().run("run1")).await;
    assert_eq!((reports.len(), reports[0].end), (1, TeardownEnd::Done));
    assert_eq!(
        log.lines()
            .iter()
            .filter(|line| *line == "cleaned r")
            .count(),
        1
    );
    assert!(registry.end_run(&facts).await.is_empty());

    let _session = registry
        .register([("tool", cleaning(&log, TeardownScope::Session, &["s"]))])
        .unwrap();
    settle(&registry, &facts).await;
    assert!(
        registry
            .end_session(&Facts::new().session("s2"))
            .await
            .is_empty()
    );
    assert_eq!(registry.end_session(&facts).await.len(), 1);
    // What is left goes at the end.
    assert_eq!(registry.shut_down().await.len(), 1);
    assert!(registry.shut_down().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_that_hangs_or_panics_is_reported_and_the_others_run() {
    let registry = open().build();
    let log = Log::default();
    let seen = log.clone();
    let tool = run(move |cx: Context| {
        let seen = seen.clone();
        async move {
            let scope = TeardownScope::Shutdown;
            cx.on_teardown(scope, "fine", move || async move { seen.write("cleaned") })?;
            cx.on_teardown(scope, "hangs", std::future::pending)?;
            cx.on_teardown(scope, "secret-key", || async { panic!("canary") })?;
            Ok(json!(null))
        }
    });
    let _tool = registry.register([("tool", tool)]).unwrap();
    settle(&registry, &Facts::new()).await;
    let began = tokio::time::Instant::now();
    let reports = registry.shut_down().await;
    assert_eq!(began.elapsed().as_secs(), 5);
    let ends: Vec<_> = reports.iter().map(|report| report.end).collect();
    assert_eq!(
        ends,
        [
            TeardownEnd::Panicked,
            TeardownEnd::Abandoned,
            TeardownEnd::Done
        ]
    );
    assert!(
        reports
            .iter()
            .all(|report| report.key_digest.len() == 12 && report.tool == "tool")
    );
    assert!(!format!("{reports:?}").contains("secret-key"));
    assert_eq!(log.lines(), ["cleaned"]);
}

#[tokio::test]
async fn a_scope_that_cannot_be_honoured_is_refused_by_name() {
    let log = Log::default();
    let seen = log.clone();
    let tool = run(move |cx: Context| {
        let seen = seen.clone();
        async move {
            for scope in [
                TeardownScope::Run,
                TeardownScope::Session,
                TeardownScope::Shutdown,
            ] {
                let registered = cx.on_teardown(scope, "k", || async {});
                seen.write(registered.map_or_else(|error| error.to_string(), |_| "yes".to_owned()));
            }
            Ok(json!(cx.teardown_scopes().len()))
        }
    });
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settle = |door| {
        registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &Facts::new())
            .door(door)
    };
    assert_eq!(settle(Door::Mcp).await.text(), "1");
    assert_eq!(settle(Door::Code).await.text(), "4");
    assert_eq!(
        log.lines(),
        [
            "teardown scope \"run\" is not honoured here; honoured are: call",
            "teardown scope \"session\" is not honoured here; honoured are: call",
            "teardown scope \"shutdown\" is not honoured here; honoured are: call",
            "teardown scope \"run\" needs a call that says which run it belongs to",
            "teardown scope \"session\" needs a call that says which session it belongs to",
            "yes",
        ]
    );
    let none = Context::detached().on_teardown(TeardownScope::Call, "k", || async {});
    assert!(matches!(none, Err(TeardownError::NotHonoured { .. })));
}
