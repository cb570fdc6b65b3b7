//! Check-ins that show an artifact: it is there, and it is the one that the answer is about.

use serde_json::{Value, json};
use tool_core::{
    Answer, Artifact, ArtifactDraft, ArtifactError, ArtifactKind, ArtifactStore, BoxFuture, Call,
    CheckIn, Component, ComponentFault, Decision, Facts, Permission, Refusal, Settlement,
    Suspension, Tool, Validation, Verdict,
};
use tool_registry::{Approvals, Door, Registry, RegistryBuilder};

use crate::passing::Pantry;
use crate::ports::{Always, Answers, Count, Shelf, Stuck, open};
use crate::recorder::Recorder;
use crate::tools::{mirror, output, refusal};
use crate::waits::waiting;

/// A tool that shows the draft that it is given before it acts.
fn sends(runs: &Count) -> Tool {
    let schema = json!({"type": "object", "properties": {"draft": {"type": "string"}}});
    let component = Component::new("mail-preview");
    mirror(schema, runs).check_in(CheckIn::always().component(component).props_from("draft"))
}

fn registry(builder: RegistryBuilder, tool: Tool) -> Registry {
    let registry = builder.build();
    registry.register([("tool", tool)]).unwrap().keep();
    registry
}

fn ada() -> Facts {
    Facts::new().session("ada")
}

async fn settle(registry: &Registry, arguments: Value, facts: &Facts) -> Settlement {
    let call = Call::new("tool", arguments).id("c1");
    let settling = registry.snapshot().settle(call, facts);
    settling.approvals(Approvals::Suspend).await
}

/// Where a draft of Ada is, with its reference.
async fn drafted() -> (Pantry, String) {
    let pantry = Pantry::default();
    let draft = ArtifactDraft::new(ArtifactKind::new("mail").unwrap());
    let kept = pantry.put(&ada(), draft, "Dear Bob".into()).await.unwrap();
    (pantry, kept.meta.reference.to_string())
}

#[track_caller]
fn fault(settled: &Settlement) -> ComponentFault {
    match refusal(settled) {
        Refusal::Component { fault, .. } => *fault,
        other => panic!(
            "expected a question that cannot be put, got {}",
            other.kind()
        ),
    }
}

#[tokio::test]
async fn a_question_names_the_artifact_that_it_shows_and_goes_on_from_json() {
    let (pantry, draft) = drafted().await;
    let runs = Count::default();
    let registry = registry(open().artifacts(pantry), sends(&runs));
    let arguments = json!({"draft": draft});
    let asked = waiting(settle(&registry, arguments.clone(), &ada()).await);
    let json = serde_json::to_value(&asked).unwrap();
    assert_eq!(
        json["component"],
        json!({"id": "mail-preview", "props_ref": draft})
    );
    let back: Suspension = serde_json::from_value(json).unwrap();
    assert_eq!((&back, runs.get()), (&asked, 0));
    let resumed = registry.snapshot().resume(back, Verdict::Approve, &ada());
    assert_eq!(output(&resumed.await), &arguments);

    // One who is asked about nothing is shown nothing.
    let plain = waiting(settle(&registry, json!({}), &ada()).await);
    let json = serde_json::to_value(&plain).unwrap();
    assert_eq!(json["component"], json!({"id": "mail-preview"}));
}

#[tokio::test]
async fn a_question_about_an_artifact_that_is_not_there_is_not_put() {
    let (pantry, draft) = drafted().await;
    let (runs, told) = (Count::default(), Recorder::default());
    let builder = open().artifacts(pantry.clone()).events(told.sink());
    let tool = sends(&runs).validation(Validation::Advertise);
    let suspends = registry(builder, tool.clone());
    let answers = Answers(Answer::Approved, Count::default());
    let permission = Permission::new(Always(Decision::Allow), answers.clone());
    let builder = Registry::builder().permission(permission);
    let asks = registry(builder.artifacts(pantry), tool);
    let eve = Facts::new().session("eve");
    for (arguments, facts, expected) in [
        (json!({"draft": "art_9"}), ada(), ComponentFault::Unresolved),
        (json!({"draft": draft}), eve, ComponentFault::Unresolved),
        (json!({"draft": " "}), ada(), ComponentFault::Shape),
        (json!({"draft": ["art_0"]}), ada(), ComponentFault::Shape),
    ] {
        let settled = settle(&suspends, arguments.clone(), &facts).await;
        assert_eq!(fault(&settled), expected, "{arguments}");
        let text = format!(
            "the user could not be asked whether to go on, as {expected}; the tool did not run"
        );
        assert_eq!(settled.text(), text);
        let call = Call::new("tool", arguments);
        let settled = asks.snapshot().settle(call, &facts).await;
        assert_eq!(fault(&settled), expected);
    }
    assert_eq!((runs.get(), answers.1.get()), (0, 0));
    let told = told.told();
    assert!(told.iter().all(|told| !told.printed.contains("Asked")));
    let missed = |told: &&crate::recorder::Told| told.printed.contains("(head: absent)");
    assert_eq!(told.iter().filter(missed).count(), 2);
}

#[tokio::test]
async fn what_is_wrong_with_the_store_is_for_the_operator() {
    let runs = Count::default();
    let down = Shelf(|_: &str| Err::<Option<Artifact>, _>(ArtifactError::new("disk on fire")));
    let broken = registry(open().artifacts(down), sends(&runs));
    let settled = settle(&broken, json!({"draft": "art_1"}), &ada()).await;
    assert_eq!(fault(&settled), ComponentFault::Store);
    assert!(!settled.text().contains("fire"), "{}", settled.text());
    let operator = refusal(&settled).operator();
    assert!(operator.contains("disk on fire"), "{operator}");

    // A call by another tool reaches no store.
    let (pantry, draft) = drafted().await;
    let inner = registry(open().artifacts(pantry), sends(&runs));
    let call = Call::new("tool", json!({"draft": draft}));
    let settled = inner.snapshot().settle(call, &ada()).door(Door::Inner);
    assert_eq!(fault(&settled.await), ComponentFault::NoStore);
    assert_eq!(runs.get(), 0);
}

/// A store that does not answer.
struct Silent(Stuck);

impl ArtifactStore for Silent {
    fn get<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        self.0.wait()
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_holds_a_question_up_for_so_long_only() {
    let limit = std::time::Duration::from_secs(3);
    let (stuck, runs) = (Stuck::default(), Count::default());
    let builder = open().artifacts(Silent(stuck.clone())).gate_timeout(limit);
    let registry = registry(builder, sends(&runs));
    let began = tokio::time::Instant::now();
    let settled = settle(&registry, json!({"draft": "art_1"}), &ada()).await;
    assert_eq!(fault(&settled), ComponentFault::Store);
    assert_eq!((began.elapsed(), runs.get()), (limit, 0));
    assert!(stuck.gone.is_gone());
}

#[test]
fn a_question_that_shows_an_artifact_needs_a_store_and_a_way_to_name_it() {
    let runs = Count::default();
    let refused = |builder: RegistryBuilder, tool: Tool| {
        let error = builder.build().register([("tool", tool)]).unwrap_err();
        error.to_string()
    };
    let fixed = CheckIn::always().component(Component::new("preview").props_ref("art_1"));
    for tool in [
        sends(&runs),
        mirror(json!({"type": "object"}), &runs).check_in(fixed),
    ] {
        let text = refused(open(), tool.clone());
        assert!(
            text.contains(
                "\"tool\": check_in shows an artifact, and the registry has no artifact store"
            ),
            "{text}"
        );
        let registry = open().artifacts(Pantry::default()).build();
        assert!(registry.register([("tool", tool)]).is_ok());
    }
    let preview = || CheckIn::always().component(Component::new("preview"));
    for (check_in, expected) in [
        (
            preview().props_from("letter"),
            "check_in takes props from \"letter\", which the input schema does not offer as a string",
        ),
        (
            preview().props_from("count"),
            "check_in takes props from \"count\", which the input schema does not offer as a string",
        ),
        (
            CheckIn::always().props_from("draft"),
            "check_in takes props from \"draft\" without a component; give one or leave it out",
        ),
        (
            CheckIn::always().component(Component::new("preview").props_ref(" ")),
            "check_in has a component with a blank props_ref; leave it out to show no artifact",
        ),
    ] {
        let schema = json!({"type": "object", "properties": {
            "draft": {"type": ["string", "null"]}, "count": {"type": "integer"}
        }});
        let tool = mirror(schema, &runs).check_in(check_in);
        let text = refused(open().artifacts(Pantry::default()), tool);
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_decision_on_another_artifact_is_refused_and_decides_nothing() {
    let (pantry, draft) = drafted().await;
    let runs = Count::default();
    let registry = registry(open().artifacts(pantry), sends(&runs));
    let asked = waiting(settle(&registry, json!({"draft": draft}), &ada()).await);
    let asked: Suspension = serde_json::from_str(&serde_json::to_string(&asked).unwrap()).unwrap();
    for (answer, stale) in [
        (json!({"decision": "approve", "from": "art_SECRET"}), true),
        (
            json!({"decision": "decline", "note": "SECRET", "from": "art_SECRET"}),
            true,
        ),
        (json!({"decision": "approve", "from": ["SECRET"]}), false),
        (json!({"decision": "SECRET", "from": draft}), false),
        (json!({"from": draft}), false),
    ] {
        let error = asked.verdict(&answer).unwrap_err();
        assert_eq!(error.is_stale(), stale, "{answer}");
        let text = error.to_string();
        assert!(
            text.starts_with("check-in of tool \"tool\" needs a decision"),
            "{text}"
        );
        assert_eq!(text.contains("got one on another"), stale, "{text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
    // One that shows nothing is no question about any artifact.
    let plain = waiting(settle(&registry, json!({}), &ada()).await);
    let about = json!({"decision": "approve", "from": draft});
    let error = plain.verdict(&about).unwrap_err();
    assert!(error.is_stale());
    assert_eq!(
        error.to_string(),
        "check-in of tool \"tool\" needs a decision, got one on an artifact where none is shown; \
         leave \"from\" out"
    );
    assert_eq!(runs.get(), 0);

    let verdict = asked.verdict(&about).unwrap();
    let resumed = registry.snapshot().resume(asked, verdict, &ada()).await;
    assert_eq!((resumed.outcome.as_str(), runs.get()), ("completed", 1));
    let silent = plain.verdict(&json!({"decision": "approve"})).unwrap();
    let resumed = registry.snapshot().resume(plain, silent, &ada()).await;
    assert_eq!((resumed.outcome.as_str(), runs.get()), ("completed", 2));
}
