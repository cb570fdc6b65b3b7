//! Hooks before and after every call.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{
    Arguments, Bound, Call, CallId, Content, Decision, DefectKind, Facts, HookError, Incoming,
    Outcome, Refusal, Settlement, ToolFailure,
};
use tool_registry::Registry;

use crate::ports::{After, Before, Count, Drawer, Log, Rules, open, rule};
use crate::tools::{echo, fixed, invalid, mirror, output, refusal, run};

fn before<F>(hook: F) -> Before<F>
where
    F: Fn(&mut Incoming, &Facts) -> Result<(), HookError> + Send + Sync,
{
    Before(hook)
}

fn after<F>(hook: F) -> After<F>
where
    F: Fn(&mut Settlement, &Facts) -> Result<(), HookError> + Send + Sync,
{
    After(hook)
}

async fn settle(registry: &Registry, name: &str, arguments: &str) -> Settlement {
    let call = Call::new(name, arguments).id("call_1");
    registry.snapshot().settle(call, &Facts::new()).await
}

#[tokio::test]
async fn a_before_hook_repairs_name_and_input_and_the_after_hook_sees_the_resolved_name() {
    let log = Log::default();
    let (first, last) = (log.clone(), log.clone());
    let registry = open()
        .before(before(move |incoming, _| {
            first.write(format!("before {}", incoming.name));
            if incoming.name == "ecco" {
                incoming.name = "echo".to_owned();
                incoming.arguments = Arguments::from(json!({"text": "repaired"}));
            }
            Ok(())
        }))
        .after(after(move |settlement, _| {
            last.write(format!("after {}", settlement.tool));
            Ok(())
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let settled = settle(&registry, "ecco", "not json").await;
    assert_eq!(output(&settled), "repaired");
    assert_eq!(settled.tool, "echo");
    assert_eq!(log.lines(), ["before ecco", "after echo"]);
}

#[tokio::test]
async fn before_hooks_run_in_the_order_added_and_each_sees_what_the_last_one_made() {
    let log = Log::default();
    let hook = |word: &'static str| {
        let log = log.clone();
        before(move |incoming: &mut Incoming, _: &Facts| {
            log.write(format!("{word} {}", incoming.name));
            incoming.name.push_str(word);
            Ok(())
        })
    };
    let registry = open().before(hook("a")).before(hook("b")).build();
    let _tool = registry.register([("xab", fixed("found"))]).unwrap();
    assert_eq!(settle(&registry, "x", "{}").await.text(), "found");
    assert_eq!(log.lines(), ["a x", "b xa"]);
}

#[tokio::test]
async fn the_before_hook_fires_for_unknown_names_and_the_after_hook_does_not() {
    let (seen, after_calls) = (Log::default(), Count::default());
    let (first, last) = (seen.clone(), after_calls.clone());
    let registry = open()
        .before(before(move |incoming, _| {
            first.write(incoming.name.clone());
            Ok(())
        }))
        .after(after(move |_, _| {
            last.add();
            Ok(())
        }))
        .build();
    let settled = settle(&registry, "missing", "{}").await;
    assert!(matches!(refusal(&settled), Refusal::Unknown { .. }));
    assert_eq!(seen.lines(), ["missing"]);
    assert_eq!(after_calls.get(), 0);
}

#[tokio::test]
async fn a_before_hook_that_rejects_tells_the_model_why_and_runs_nothing() {
    let (runs, second) = (Count::default(), Count::default());
    let later = second.clone();
    let registry = open()
        .before(before(|_, _| Err(HookError::rejected("not on a Friday"))))
        .before(before(move |_, _| {
            later.add();
            Ok(())
        }))
        .build();
    let tool = mirror(json!({"type": "object"}), &runs);
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settled = settle(&registry, "tool", "{}").await;
    assert_eq!(
        settled.text(),
        "permission for tool was denied: not on a Friday"
    );
    assert_eq!((runs.get(), second.get()), (0, 0));
}

#[tokio::test]
async fn a_before_hook_that_breaks_or_panics_runs_nothing_and_shows_nothing() {
    let runs = Count::default();
    let broken = open()
        .before(before(|_, _| Err(HookError::broken("canary at /srv/hook"))))
        .build();
    let panicking = open().before(before(|_, _| panic!("canary"))).build();
    for (registry, ends) in [(broken, "refused"), (panicking, "defect")] {
        let tool = mirror(json!({"type": "object"}), &runs);
        let _tool = registry.register([("tool", tool)]).unwrap();
        let settled = settle(&registry, "tool", "{}").await;
        assert_eq!(settled.outcome.as_str(), ends);
        assert!(!settled.text().contains("canary"), "{}", settled.text());
        assert!(!settled.text().is_empty());
        assert_eq!(settled.call.as_ref().unwrap().as_str(), "call_1");
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_rejected_name_is_shown_to_the_model_escaped_and_cut() {
    let registry = open()
        .before(before(|_, _| Err(HookError::rejected("no"))))
        .build();
    let name = format!("\u{1b}[31m{}", "n".repeat(100_000));
    let text = settle(&registry, &name, "{}").await.text();
    assert!(!text.contains('\u{1b}'));
    assert!(text.len() < 1_000, "{} bytes", text.len());
}

#[tokio::test]
async fn a_before_hook_cannot_change_the_id_of_a_settlement() {
    let registry = open()
        .before(before(|incoming, _| {
            incoming.id = Some(CallId::from("forged"));
            Ok(())
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let settled = settle(&registry, "echo", r#"{"text":"x"}"#).await;
    assert_eq!(settled.call.unwrap().as_str(), "call_1");
}

#[tokio::test]
async fn an_after_hook_cannot_change_the_id_of_a_settlement() {
    let registry = open()
        .after(after(|settlement, _| {
            settlement.call = Some(CallId::from("forged"));
            Ok(())
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let settled = settle(&registry, "echo", r#"{"text":"x"}"#).await;
    assert_eq!(settled.call.unwrap().as_str(), "call_1");
}

#[tokio::test]
async fn what_a_before_hook_makes_of_the_arguments_is_validated_like_any_other() {
    let registry = open()
        .before(before(|incoming, _| {
            incoming.arguments = Arguments::from(json!({"text": 1}));
            Ok(())
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let settled = settle(&registry, "echo", r#"{"text":"x"}"#).await;
    assert_eq!(invalid(&settled).issues().len(), 1);
}

#[tokio::test]
async fn after_hooks_run_in_reverse_order_and_may_change_what_is_shown() {
    let hook = |word: &'static str| {
        after(move |settlement: &mut Settlement, _: &Facts| {
            let text = format!("{}{word}", settlement.text());
            settlement.content = vec![Content::text(text)];
            Ok(())
        })
    };
    let registry = open()
        .after(hook("1"))
        .after(hook("2"))
        .after(hook("3"))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let settled = settle(&registry, "echo", r#"{"text":"x"}"#).await;
    assert_eq!(settled.text(), "x321");
    assert_eq!(output(&settled), "x");
}

#[tokio::test]
async fn an_after_hook_sees_the_bounded_settlement_and_is_not_bounded_again() {
    let (log, store) = (Log::default(), Drawer::default());
    let seen = log.clone();
    let registry = open()
        .outputs(Arc::new(store.clone()))
        .bound(Bound::new(10, 1).unwrap())
        .after(after(move |settlement, _| {
            let retained: Vec<_> = settlement.retained.iter().map(|one| &one.id).collect();
            seen.write(format!("{} {retained:?}", settlement.text()));
            settlement.content = vec![Content::text("y".repeat(100))];
            Ok(())
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(100));
    let settled = settle(&registry, "echo", &long).await;
    assert_eq!(log.lines(), [r#"preview ["out_1"]"#]);
    assert_eq!(settled.text(), "y".repeat(100));
    assert_eq!(store.kept.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_hooks_run_for_every_call_that_reached_execution_and_was_not_refused() {
    let count = Count::default();
    let seen = count.clone();
    let registry = open()
        .after(after(move |_, _| {
            seen.add();
            Ok(())
        }))
        .build();
    let slow = run(|_| std::future::pending()).timeout(std::time::Duration::from_secs(1));
    let permission = tool_core::Permission::closed();
    let asserting = run(move |cx| {
        let permission = permission.clone();
        async move {
            permission.assert(&cx, "leaf", ["it"]).await?;
            Ok(Value::Null)
        }
    });
    let ceiling = fixed("long").ceiling(std::num::NonZeroUsize::MIN);
    let _tools = registry
        .register([
            ("fine", fixed("x")),
            (
                "fails",
                run(|_| async { Err(ToolFailure::new("no").into()) }),
            ),
            ("panics", run(|_| async { panic!("boom") })),
            ("slow", slow),
            ("asserting", asserting),
            ("ceiling", ceiling),
        ])
        .unwrap();
    for (name, expected) in [
        ("fine", 1),
        ("fails", 2),
        ("panics", 3),
        ("slow", 4),
        ("asserting", 4),
        ("ceiling", 4),
        ("missing", 4),
    ] {
        let _ = settle(&registry, name, "{}").await;
        assert_eq!(count.get(), expected, "{name}");
    }
}

#[tokio::test]
async fn after_hooks_see_no_call_that_was_denied_rejected_or_that_waits() {
    let count = Count::default();
    let seen = count.clone();
    let denies = Rules(|request: &tool_core::Request<'_>| {
        let tool = request.tool.map(|tool| tool.name().as_str());
        rule(match tool {
            Some("denied") => Decision::Deny,
            _ => Decision::Allow,
        })
    });
    let registry = Registry::builder()
        .permission(tool_core::Permission::new(denies, tool_core::NobodyToAsk))
        .before(before(|incoming, _| match incoming.name.as_str() {
            "rejected" => Err(HookError::rejected("not today")),
            _ => Ok(()),
        }))
        .after(after(move |_, _| {
            seen.add();
            Ok(())
        }))
        .build();
    let tools = ["denied", "rejected", "fine"].map(|name| (name, fixed("x")));
    let _tools = registry.register(tools).unwrap();
    let waits = fixed("x").needs_approval(true);
    let _waits = registry.register([("waits", waits)]).unwrap();
    for (name, ends, expected) in [
        ("denied", "refused", 0),
        ("rejected", "refused", 0),
        ("waits", "suspended", 0),
        ("fine", "completed", 1),
    ] {
        let settling = registry
            .snapshot()
            .settle(Call::new(name, "{}"), &Facts::new());
        let settled = settling.approvals(tool_registry::Approvals::Suspend).await;
        assert_eq!(settled.outcome.as_str(), ends, "{name}");
        assert_eq!(count.get(), expected, "{name}");
    }
}

#[tokio::test]
async fn an_after_hook_that_fails_makes_a_defect_that_shows_nothing_and_keeps_the_retained() {
    let registry = open()
        .outputs(Arc::new(Drawer::default()))
        .bound(Bound::new(10, 1).unwrap())
        .after(after(|_, _| {
            Err(HookError::broken("the log at /srv is full"))
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let long = format!(r#"{{"text":"{}"}}"#, "canary".repeat(10));
    let settled = settle(&registry, "echo", &long).await;
    let Outcome::Defect(defect) = &settled.outcome else {
        panic!("expected a defect");
    };
    assert_eq!(defect.kind(), DefectKind::Hook);
    assert_eq!((settled.output(), settled.structured()), (None, None));
    assert_eq!(settled.retained.len(), 1);
    assert!(!settled.text().contains("/srv"));
}

#[tokio::test]
async fn an_after_hook_that_panics_makes_a_defect_and_its_siblings_finish() {
    let registry = open()
        .after(after(|settlement, _| {
            assert_ne!(settlement.text(), "bad");
            Ok(())
        }))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let calls = ["good", "bad", "good"]
        .map(|text| Call::new("echo", format!(r#"{{"text":"{text}"}}"#)).id(text));
    let settled = registry.snapshot().settle_all(calls, &Facts::new()).await;
    let ends: Vec<_> = settled.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(ends, ["completed", "defect", "completed"]);
    assert_eq!(settled[1].call.as_ref().unwrap().as_str(), "bad");
    assert_eq!(settled[1].output(), None);
}

#[tokio::test]
async fn an_event_sink_that_panics_stops_no_sibling() {
    let registry = open()
        .events(|event: &tool_core::Event<'_>| {
            let settling = matches!(event.kind, tool_core::EventKind::Settled(_));
            assert!(!settling || event.tool != "bad", "the sink is broken");
        })
        .build();
    let _tools = registry
        .register([("good", fixed("fine")), ("bad", fixed("fine"))])
        .unwrap();
    let calls = ["good", "bad", "good"].map(|name| Call::new(name, "{}"));
    let settled = registry.snapshot().settle_all(calls, &Facts::new()).await;
    let texts: Vec<_> = settled.iter().map(Settlement::text).collect();
    assert_eq!(texts, ["fine", "fine", "fine"]);
}
