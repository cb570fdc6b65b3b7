//! The order of the pipeline: one order, for every outcome and by every door.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{
    Answer, ArtifactKind, Bound, Bounding, Call, Capability, CredentialError, CredentialNeed,
    Decision, Facts, HookError, NoArtifacts, Outcome, Permission, Request, Stage, Tool,
    ToolFailure, Verdict,
};
use tool_registry::{Approvals, Door, Registration, Registry};

use crate::ports::{Answers, Before, Count, Full, Keyring, Rules, rule};
use crate::recorder::Recorder;
use crate::tools::{echo, fixed, run};

const DOORS: [Door; 5] = [
    Door::Model,
    Door::Resumed,
    Door::Mcp,
    Door::Inner,
    Door::Code,
];

/// A registry where a call of a tool ends as the tool's name says.
fn registry(recorder: &Recorder) -> (Registry, Registration) {
    let policy = Rules(|request: &Request<'_>| {
        let action = request.action.as_str();
        let tool = request.tool.map(|tool| tool.name().as_str().to_owned());
        rule(match (action, tool.as_deref()) {
            ("call", Some("denied")) | ("user_data" | "leaf", _) => Decision::Deny,
            ("call", Some("declined")) => Decision::Ask,
            _ => Decision::Allow,
        })
    });
    let permission = Permission::new(
        policy,
        Answers(Answer::Declined { note: None }, Count::default()),
    );
    let registry = Registry::builder()
        .permission(permission.clone())
        .artifacts(NoArtifacts)
        .credentials(Keyring(|_: &CredentialNeed| {
            Err(CredentialError::new("expired"))
        }))
        .outputs(std::sync::Arc::new(Full))
        .before(Before(|incoming: &mut tool_core::Incoming, _: &Facts| {
            if incoming.name == "rejected" {
                return Err(HookError::rejected("not today"));
            }
            Ok(())
        }))
        .events(recorder.sink())
        .build();

    let asserting = {
        let permission = permission.clone();
        run(move |cx| {
            let permission = permission.clone();
            async move {
                permission.assert(&cx, "leaf", ["it"]).await?;
                Ok(Value::Null)
            }
        })
    };
    let wanting = Tool::dynamic(
        "Wants an artifact",
        json!({"type": "object", "properties": {"ref": {"type": "string"}}}),
        |input: Value, _| async move { Ok(input) },
    )
    .wants("ref", ArtifactKind::new("report").unwrap());
    let tools: Vec<(&str, Tool)> = vec![
        ("completed", fixed("done")),
        ("rejected", fixed("done")),
        ("denied", fixed("done")),
        ("declined", fixed("done")),
        ("invalid", echo().into()),
        (
            "capability",
            fixed("done").capabilities([Capability::UserData]),
        ),
        ("artifact", wanting),
        (
            "credential",
            fixed("done").needs(CredentialNeed::new("mail")),
        ),
        ("assert", asserting),
        (
            "failed",
            run(|_| async { Err(ToolFailure::new("no such file").into()) }),
        ),
        (
            "broken",
            run(|_| async { Err(std::io::Error::other("disk").into()) }),
        ),
        ("panicked", run(|_| async { panic!("boom") })),
        (
            "slow",
            run(|_| std::future::pending()).timeout(Duration::from_secs(1)),
        ),
        (
            "misfit",
            fixed("done").output_schema(json!({"type": "integer"})),
        ),
        ("ceiling", fixed("too long").ceiling(NonZeroUsize::MIN)),
        (
            "retention",
            fixed("too long").bounding(Bounding::Within(Bound::new(1, 1).unwrap())),
        ),
    ];
    let registration = registry.register(tools).unwrap();
    (registry, registration)
}

/// Every way to end, as the name of a tool and the arguments of its call.
const ENDS: [(&str, &str); 18] = [
    ("completed", "{}"),
    ("rejected", "{}"),
    ("unknown", "{}"),
    ("truncated", "{"),
    ("denied", "{}"),
    ("capability", "{}"),
    ("invalid", "{}"),
    ("declined", "{}"),
    ("artifact", r#"{"ref":"a1"}"#),
    ("credential", "{}"),
    ("assert", "{}"),
    ("failed", "{}"),
    ("broken", "{}"),
    ("panicked", "{}"),
    ("slow", "{}"),
    ("misfit", "{}"),
    ("ceiling", "{}"),
    ("retention", "{}"),
];

fn call_of(end: &str, arguments: &str) -> Call {
    // Bad text is seen with a tool that would take anything.
    let name = if end == "truncated" { "completed" } else { end };
    Call::new(name, arguments).id(end)
}

#[tokio::test(start_paused = true)]
async fn the_stages_come_in_the_order_of_the_design_and_settling_ends_every_call() {
    let mut table = String::new();
    for (end, arguments) in ENDS {
        let recorder = Recorder::default();
        let (registry, _tools) = registry(&recorder);
        let settled = registry
            .snapshot()
            .settle(call_of(end, arguments), &Facts::new())
            .await;
        let outcome = settled.outcome.as_str();
        table.push_str(&format!("{end}: {}: {outcome}\n", recorder.line()));
    }
    insta::assert_snapshot!(table, @"
    completed: before resolve parse policy validate approval artifacts credentials execute encode judge project bound after settle: completed
    rejected: before settle: refused
    unknown: before resolve settle: refused
    truncated: before resolve parse policy validate settle: refused
    denied: before resolve parse policy settle: refused
    capability: before resolve parse policy settle: refused
    invalid: before resolve parse policy validate settle: refused
    declined: before resolve parse policy validate approval settle: refused
    artifact: before resolve parse policy validate approval artifacts settle: refused
    credential: before resolve parse policy validate approval artifacts credentials settle: refused
    assert: before resolve parse policy validate approval artifacts credentials execute bound after settle: refused
    failed: before resolve parse policy validate approval artifacts credentials execute bound after settle: failed
    broken: before resolve parse policy validate approval artifacts credentials execute bound after settle: defect
    panicked: before resolve parse policy validate approval artifacts credentials execute bound after settle: defect
    slow: before resolve parse policy validate approval artifacts credentials execute bound after settle: timed_out
    misfit: before resolve parse policy validate approval artifacts credentials execute encode bound after settle: defect
    ceiling: before resolve parse policy validate approval artifacts credentials execute encode judge bound after settle: refused
    retention: before resolve parse policy validate approval artifacts credentials execute encode judge project bound after settle: defect
    ");
}

#[tokio::test(start_paused = true)]
async fn every_door_leads_through_the_same_stages_in_the_same_order() {
    for (end, arguments) in ENDS {
        let mut lines = Vec::new();
        for door in DOORS {
            let recorder = Recorder::default();
            let (registry, _tools) = registry(&recorder);
            let call = call_of(end, arguments);
            let settled = registry
                .snapshot()
                .settle(call, &Facts::new())
                .door(door)
                .await;
            // Nothing is retained of what only another handler reads.
            let ends = match (end, door) {
                ("retention", Door::Inner) => {
                    assert_eq!(settled.outcome.as_str(), "completed");
                    "defect"
                }
                _ => settled.outcome.as_str(),
            };
            lines.push(format!("{} {ends}", recorder.line()));
        }
        lines.dedup();
        assert_eq!(lines.len(), 1, "{end}: {lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_leads_each_of_its_calls_through_the_same_stages_as_a_call_alone() {
    let together = Recorder::default();
    let (registry_of_all, _tools) = registry(&together);
    let calls = ENDS.map(|(end, arguments)| call_of(end, arguments));
    let settled = registry_of_all
        .snapshot()
        .settle_all(calls, &Facts::new())
        .await;
    assert_eq!(settled.len(), ENDS.len());
    assert_eq!(together.settlements(), ENDS.len());
    for (end, arguments) in ENDS {
        let alone = Recorder::default();
        let (registry, _tools) = registry(&alone);
        let call = call_of(end, arguments);
        let _ = registry.snapshot().settle(call, &Facts::new()).await;
        assert_eq!(together.stages_of(end), alone.stages_of(end), "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_stage_is_passed_twice_or_out_of_order() {
    for (end, arguments) in ENDS {
        let recorder = Recorder::default();
        let (registry, _tools) = registry(&recorder);
        let call = call_of(end, arguments);
        let _ = registry.snapshot().settle(call, &Facts::new()).await;
        let stages = recorder.stages();
        assert!(
            stages.is_sorted_by(|one, next| one < next),
            "{end}: {stages:?}"
        );
        assert_eq!(stages.first(), Some(&Stage::Before));
        assert_eq!(stages.last(), Some(&Stage::Settle));
        assert_eq!(recorder.settlements(), 1, "{end}");
        assert!(recorder.told().last().unwrap().settled.is_some(), "{end}");
    }
}

#[tokio::test]
async fn a_call_that_waits_stops_at_its_gate_and_passes_every_stage_again_when_it_goes_on() {
    let recorder = Recorder::default();
    let (registry, _tools) = registry(&recorder);
    let facts = Facts::new();
    let call = Call::new("declined", "{}").id("c1");
    let waiting = registry
        .snapshot()
        .settle(call, &facts)
        .approvals(Approvals::Suspend)
        .await;
    let Outcome::Suspended(suspension) = waiting.outcome else {
        panic!("expected a suspension, got {}", waiting.outcome.as_str());
    };
    assert_eq!(
        recorder.line(),
        "before resolve parse policy validate approval settle"
    );

    let told = recorder.stages().len();
    let settled = registry
        .snapshot()
        .resume(*suspension, Verdict::Approve, &facts)
        .await;
    assert_eq!(settled.outcome.as_str(), "completed");
    let again: Vec<_> = recorder.stages().into_iter().skip(told).collect();
    assert_eq!(again.len(), 15);
    assert!(again.is_sorted_by(|one, next| one < next), "{again:?}");
}

#[tokio::test]
async fn what_a_door_cannot_honour_is_refused_by_name() {
    let recorder = Recorder::default();
    let (registry, _tools) = registry(&recorder);
    for door in DOORS {
        let call = Call::new("artifact", r#"{"ref":"a1"}"#);
        let settled = registry
            .snapshot()
            .settle(call, &Facts::new())
            .door(door)
            .await;
        let named = settled.text().contains("declares wants");
        assert_eq!(named, !door.redeems_artifacts(), "{door:?}");
    }
}

#[tokio::test]
async fn events_carry_the_id_and_the_name_of_their_call() {
    let recorder = Recorder::default();
    let (registry, _tools) = registry(&recorder);
    let call = Call::new("completed", "{}").id("call_7");
    let _ = registry.snapshot().settle(call, &Facts::new()).await;
    let told = recorder.told();
    assert!(
        told.iter()
            .all(|told| told.call.as_deref() == Some("call_7"))
    );
    assert!(told.iter().all(|told| told.tool == "completed"));
}
