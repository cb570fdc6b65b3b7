//! What a host is told of a call, in which order, and as traces.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::{
    Answer, ArtifactKind, Bound, Call, Capability, CheckIn, Column, ColumnType, Context,
    CredentialNeed, Decision, Event, EventKind, Facts, Permission, Produced, Progress, Tool,
    Verdict,
};
use tool_registry::{ColumnCheck, Registry, RegistryBuilder};
use tracing::field::{Field, Visit};
use tracing::span;

use crate::ports::{Always, Answers, Count, Drawer, Keyring, Log, Shelf, open};
use crate::tools::{call, fixed, mirror, run};
use crate::waits::{any, suspend};

/// One word for what is told; stages, and what was received, left out.
fn word(event: &Event<'_>) -> Option<String> {
    Some(match &event.kind {
        EventKind::Stage(_) | EventKind::Received { .. } => return None,
        EventKind::Ruled { capability, ruling } => {
            let about = capability.map_or("call", |capability| capability.as_str());
            format!("ruled {about} {:?}", ruling.decision)
        }
        EventKind::Asserted { action, ruling } => {
            format!("asserted {action} {:?}", ruling.decision)
        }
        EventKind::Repaired(repair) => format!("repaired {}", repair.rule),
        EventKind::Asked(gate) => format!("asked {gate}"),
        EventKind::Answered { gate, approved, by } => {
            let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
            format!("answered {gate} {approved}{by}")
        }
        EventKind::Artifact {
            argument,
            kind,
            redeemed,
        } => format!("artifact {argument} {kind} {redeemed}"),
        EventKind::OutputMismatch(issues) => format!("output mismatch {}", issues.len()),
        EventKind::Credential { service, step } => format!("credential {service} {step:?}"),
        EventKind::Columns(mismatches) => format!("columns {}", mismatches.len()),
        EventKind::Progress(progress) => {
            let data = progress.data.as_ref().map(Value::to_string);
            let message = progress.message.clone();
            format!("progress {}", message.or(data).unwrap_or_default())
        }
        EventKind::TornDown(report) => format!("torn down {:?}", report.end),
        EventKind::Settled(settlement) => format!("settled {}", settlement.outcome.as_str()),
        _ => "other".to_owned(),
    })
}

fn listening(builder: RegistryBuilder, tool: impl Into<Tool>) -> (Registry, Log) {
    let log = Log::default();
    let seen = log.clone();
    let registry = builder
        .events(move |event: &Event<'_>| {
            if let Some(word) = word(event) {
                seen.write(word);
            }
            assert!(!format!("{event:?}").contains("canary"), "{event:?}");
        })
        .build();
    registry.register([("tool", tool.into())]).unwrap().keep();
    (registry, log)
}

fn shelf() -> Shelf<impl Fn(&str) -> Result<Option<tool_core::Artifact>, tool_core::ArtifactError>>
{
    Shelf(|reference: &str| {
        let kind = ArtifactKind::new("report").unwrap();
        let found = reference.starts_with("canary");
        Ok(found.then(|| tool_core::Artifact::new(kind, "canary data")))
    })
}

#[tokio::test]
async fn everything_that_happens_to_a_call_is_told_in_its_order() {
    let schema = json!({"type": "object", "properties": {"ref": {"type": "string"}}});
    let tool = Tool::dynamic(
        "Does everything",
        schema,
        |_: Value, cx: Context| async move {
            cx.on_teardown(tool_core::TeardownScope::Call, "k", || async {})?;
            cx.progress("reading");
            cx.progress(Progress::new().data(json!({"a": [1, {"b": null}]})));
            Ok(json!([{"price": "canary"}]))
        },
    )
    .capabilities([Capability::UserData])
    .needs_approval(true)
    .check_in(CheckIn::always())
    .wants("ref", ArtifactKind::new("report").unwrap())
    .needs(CredentialNeed::new("mail"))
    .result_columns([("price", Column::new(ColumnType::Number))]);
    let builder = Registry::builder()
        .permission(Permission::new(Always(Decision::Ask), Answers::yes()))
        .artifacts(shelf())
        .credentials(Keyring(|_: &CredentialNeed| {
            Ok(tool_core::Credential::new("canary"))
        }))
        .column_check(ColumnCheck::Warn);
    let (registry, log) = listening(builder, tool);
    let call = Call::new("tool", r#"{"ref":"canary-1"}"#).id("c1");
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    assert!(!settled.is_error(), "{}", settled.text());
    assert_eq!(
        log.lines(),
        [
            "ruled call Ask",
            "asked policy on call",
            "answered policy on call true by ada",
            "asked approval",
            "answered approval true by ada",
            "asked check-in",
            "answered check-in true by ada",
            "artifact ref report true",
            "credential mail Requested",
            "credential mail Acquired",
            "progress reading",
            r#"progress {"a":[1,{"b":null}]}"#,
            "torn down Done",
            "columns 1",
            "settled completed",
        ]
    );
}

#[tokio::test]
async fn what_nobody_declared_is_not_told() {
    let (registry, log) = listening(open().artifacts(shelf()), mirror(any(), &Count::default()));
    let arguments = json!({"ref": "canary-1", "n": 1});
    let call = Call::new("tool", arguments.clone());
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    assert_eq!(settled.output(), Some(&arguments));
    assert_eq!(log.lines(), ["ruled call Allow", "settled completed"]);
}

#[tokio::test]
async fn a_no_and_a_wait_are_told_and_a_decision_on_the_wait_too() {
    let no = Answers(Answer::Declined { note: None }, Count::default());
    let asking = |approver: Answers| {
        Registry::builder().permission(Permission::new(Always(Decision::Ask), approver))
    };
    let tool = || mirror(any(), &Count::default());
    let (registry, log) = listening(asking(no), tool());
    call(&registry, "tool").await;
    assert_eq!(
        log.lines()[1..],
        [
            "asked policy on call",
            "answered policy on call false by ada",
            "settled refused"
        ]
    );

    let (registry, log) = listening(asking(Answers::yes()), tool());
    let suspension = suspend(&registry, "{}").await;
    assert_eq!(
        log.lines()[1..],
        ["asked policy on call", "settled suspended"]
    );
    let snapshot = registry.snapshot();
    for verdict in [Verdict::Decline { note: None }, Verdict::Approve] {
        snapshot
            .resume(suspension.clone(), verdict, &Facts::new())
            .decided_by("grace")
            .await;
    }
    assert_eq!(
        log.lines()[3..],
        [
            "answered policy on call false by grace",
            "settled refused",
            // Decided before: this is no answer any more.
            "settled refused"
        ]
    );
}

#[tokio::test]
async fn what_a_handler_asks_for_itself_is_told_in_its_order() {
    let policy = crate::ports::Rules(|request: &tool_core::Request<'_>| {
        crate::ports::rule(match request.action.as_str() {
            "call" => Decision::Allow,
            "read" => Decision::Ask,
            _ => Decision::Deny,
        })
    });
    let permission = Permission::new(policy, Answers::yes());
    let captured = permission.clone();
    let tool = run(move |cx: Context| {
        let permission = captured.clone();
        async move {
            permission.assert(&cx, "read", ["notes"]).await?;
            cx.progress("read");
            permission.assert(&cx, "write", ["notes"]).await?;
            Ok(json!("written"))
        }
    });
    let (registry, log) = listening(Registry::builder().permission(permission), tool);
    call(&registry, "tool").await;
    assert_eq!(
        log.lines(),
        [
            "ruled call Allow",
            "asserted read Ask",
            "asked policy on read",
            "answered policy on read true by ada",
            "progress read",
            "asserted write Deny",
            "settled refused",
        ]
    );
}

#[tokio::test]
async fn what_a_handler_asks_for_after_its_call_has_settled_is_not_told() {
    let permission = Permission::new(Always(Decision::Ask), Answers::yes());
    let kept = Arc::new(Mutex::new(None));
    let keeps = Arc::clone(&kept);
    let tool = run(move |cx: Context| {
        *keeps.lock().unwrap() = Some(cx);
        async { Ok(json!("done")) }
    });
    let (registry, log) = listening(open(), tool);
    call(&registry, "tool").await;
    let cx = kept.lock().unwrap().take().unwrap();
    permission.assert(&cx, "read", ["notes"]).await.unwrap();
    assert_eq!(log.lines(), ["ruled call Allow", "settled completed"]);
}

#[tokio::test]
async fn a_capability_that_is_denied_is_told_behind_the_call_that_was_allowed() {
    let policy = crate::ports::Rules(|request: &tool_core::Request<'_>| {
        let denied = request.action.as_str() == "user_data";
        let decision = if denied {
            Decision::Deny
        } else {
            Decision::Allow
        };
        let ruling = tool_core::Ruling::new(decision, "policy.toml:3");
        Ok(ruling.reason(Some("no personal data here".to_owned())))
    });
    let runs = Count::default();
    let tool = mirror(any(), &runs).capabilities([Capability::ExternalNet, Capability::UserData]);
    let permission = Permission::new(policy, tool_core::NobodyToAsk);
    let (registry, log) = listening(Registry::builder().permission(permission), tool);
    let settled = call(&registry, "tool").await;
    assert!(settled.text().contains("no personal data here"));
    assert!(!settled.text().contains("policy.toml"));
    assert_eq!(
        log.lines(),
        [
            "ruled call Allow",
            "ruled external_net Allow",
            "ruled user_data Deny",
            "settled refused"
        ]
    );
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn references_that_cannot_be_redeemed_are_told_one_by_one() {
    let report = || ArtifactKind::new("report").unwrap();
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}
    }});
    let tool = mirror(schema, &Count::default())
        .wants("a", report())
        .wants("b", report())
        .wants("c", ArtifactKind::new("other").unwrap());
    let (registry, log) = listening(open().artifacts(shelf()), tool);
    let arguments = json!({"a": "canary-1", "b": "gone", "c": "canary-2"});
    let call = Call::new("tool", arguments);
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    assert!(!settled.text().contains("canary"));
    assert_eq!(
        log.lines()[1..],
        [
            "artifact a report true",
            "artifact b report false",
            "artifact c other false",
            "settled refused"
        ]
    );
}

#[tokio::test]
async fn reports_are_stamped_by_the_runtime_and_change_nothing_that_the_model_reads() {
    let reporting = || {
        run(|cx: Context| async move {
            for number in 0..3 {
                cx.progress(format!("{number}"));
            }
            Ok(json!("done"))
        })
    };
    let log = Log::default();
    let seen = log.clone();
    let registry = open()
        .events(move |event: &Event<'_>| {
            let id = event.call.map_or("none", |id| id.as_str());
            let session = event.facts.session_id().map_or("none", |id| id.as_str());
            match &event.kind {
                EventKind::Progress(_) => seen.write(format!("{id} {session} {}", event.tool)),
                EventKind::Settled(_) => seen.write("settled"),
                _ => {}
            }
        })
        .build();
    registry.register([("tool", reporting())]).unwrap().keep();
    let facts = Facts::new().session("s");
    let call = Call::new("tool", "{}").id("c1");
    let heard = registry.snapshot().settle(call, &facts).await;
    assert_eq!(
        log.lines(),
        ["c1 s tool", "c1 s tool", "c1 s tool", "settled"]
    );
    let unheard = crate::tools::settle(reporting(), "{}").await;
    assert_eq!(heard.content, unheard.content);
}

/// The fields of the spans that were opened, by span.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<BTreeMap<String, String>>>>);

struct Fields<'f>(&'f mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl tracing::Subscriber for Spans {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let mut spans = self.0.lock().unwrap();
        let mut fields = BTreeMap::new();
        fields.insert("span".to_owned(), attributes.metadata().name().to_owned());
        attributes.record(&mut Fields(&mut fields));
        spans.push(fields);
        span::Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &span::Id, values: &span::Record<'_>) {
        let mut spans = self.0.lock().unwrap();
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut spans[at]));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_call_is_a_span_with_ids_sizes_and_its_duration_and_without_values() {
    let spans = Spans::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // Whether anybody collects is remembered for all threads by whoever asks first.
    runtime.block_on(crate::tools::settle(fixed("x"), "{}"));
    // As long as one alone collects, the thread that comes to a place first is asked for all.
    let _another = tracing::Dispatch::new(Spans::default());
    tracing::subscriber::with_default(spans.clone(), || {
        runtime.block_on(async {
            let registry = open()
                .outputs(Arc::new(Drawer::default()))
                .bound(Bound::new(8, 1).unwrap())
                .build();
            registry
                .register([("tool", fixed("canary result")), ("echo", fixed("x"))])
                .unwrap()
                .keep();
            let facts = Facts::new().session("s1").run("r1");
            let call = Call::new("tool", r#"{"a":"canary"}"#).id("c1");
            registry.snapshot().settle(call, &facts).await;
            let hostile = Call::new("no\nsuch\u{1b}[31m", json!({"a": "canary"}));
            registry.snapshot().settle(hostile, &Facts::new()).await;
        });
    });
    let spans = spans.0.lock().unwrap();
    let calls: Vec<_> = spans
        .iter()
        .filter(|span| span["span"] == "tool_call")
        .collect();
    let field = |call: usize, name: &str| calls[call].get(name).map(String::as_str);
    assert_eq!(calls.len(), 2);
    assert_eq!(field(0, "tool"), Some("tool"));
    assert_eq!(
        (field(0, "call"), field(0, "session")),
        (Some("c1"), Some("s1"))
    );
    assert_eq!((field(0, "run"), field(0, "agent")), (Some("r1"), None));
    assert_eq!(field(0, "door"), Some("\"code\""));
    assert_eq!(field(0, "arguments_bytes"), Some("14"));
    assert_eq!(field(0, "outcome"), Some("\"completed\""));
    assert_eq!(field(0, "content_bytes"), Some("7"));
    assert_eq!(field(0, "retained_bytes"), Some("13"));
    assert!(field(0, "duration_ms").unwrap().parse::<f64>().unwrap() >= 0.0);
    assert_eq!(field(1, "outcome"), Some("\"refused\""));
    assert_eq!(field(1, "kind"), Some("\"unknown\""));
    assert_eq!(field(1, "call"), None);
    assert!(!field(1, "tool").unwrap().contains(['\n', '\u{1b}']));
    assert!(!format!("{spans:?}").contains("canary"));
}

#[tokio::test]
async fn a_mismatch_of_output_is_told_as_one_of_the_result() {
    let silent = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "definitions": {"text": {"type": "string"}},
        "properties": {"a": {"$ref": "#/definitions/text"}},
    });
    for (schema, output, says) in [
        (
            json!({"type": "object"}),
            json!("text"),
            "expected object, got string",
        ),
        (
            json!({"type": "string"}),
            json!(5),
            "expected string, got integer",
        ),
        (
            silent,
            json!({"a": 5}),
            "the result does not fit the schema",
        ),
    ] {
        let produced = Produced::value(output);
        let tool = Tool::dynamic("Lies", json!({"type": "object"}), move |_: Value, _| {
            let produced = produced.clone();
            async move { Ok(produced) }
        });
        let tool = tool.output_schema(schema).advisory_output();
        let (registry, _) = listening(open(), tool);
        let call = Call::new("tool", "{}");
        let settled = registry.snapshot().settle(call, &Facts::new()).await;
        let meta = settled.meta.unwrap_or_default();
        let told = &meta["tool-runtime/output_mismatch"];
        assert!(told[0].as_str().unwrap().contains(says), "{told}");
        assert!(!told.to_string().contains("arguments"), "{told}");
    }
}
