//! Data that goes from tool to tool by reference, and results that are too long for a model.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactMeta,
    ArtifactPage, ArtifactQuery, ArtifactScope, ArtifactStore, Bound, Bounding, BoxFuture, Call,
    Content, Context, Facts, Kept, Loss, Outcome, Payload, RefusalKind, Settlement, Speaker, Tool,
    Wanted,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::ports::{Drawer, open};
use crate::recorder::Recorder;
use crate::tools::{output, refusal};

type Row = (ArtifactScope, ArtifactMeta, Payload);

/// A store in memory that bounds nothing.
#[derive(Clone, Default)]
pub(crate) struct Pantry(Arc<Mutex<Vec<Row>>>);

impl Pantry {
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn find(&self, facts: &Facts, reference: &str) -> Option<Row> {
        let scope = ArtifactScope::of(facts);
        let rows = self.0.lock().unwrap();
        let mut rows = rows.iter();
        rows.find(|(of, meta, _)| *of == scope && meta.reference.as_str() == reference)
            .cloned()
    }
}

impl ArtifactStore for Pantry {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        let found = self.find(facts, reference);
        Box::pin(async { Ok(found.map(|(_, meta, payload)| Artifact::new(meta.kind, payload))) })
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        let mut rows = self.0.lock().unwrap();
        let reference = format!("art_{}", rows.len());
        let bytes = payload.to_bytes().len() as u64;
        let meta = ArtifactMeta::of_draft(
            draft,
            (&*reference).into(),
            payload.media_type(),
            bytes,
            SystemTime::UNIX_EPOCH,
        );
        rows.push((ArtifactScope::of(facts), meta.clone(), payload));
        Box::pin(async { Ok(Kept::new(meta, Vec::new())) })
    }

    fn forget(&self, facts: &Facts, reference: &str) {
        let scope = ArtifactScope::of(facts);
        let mut rows = self.0.lock().unwrap();
        rows.retain(|(of, meta, _)| *of != scope || meta.reference.as_str() != reference);
    }

    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        let scope = ArtifactScope::of(facts);
        let rows = self.0.lock().unwrap();
        let listed = rows
            .iter()
            .filter(|(of, meta, _)| {
                *of == scope && query.kind.as_ref().is_none_or(|kind| *kind == meta.kind)
            })
            .map(|(_, meta, _)| meta.clone())
            .collect();
        Box::pin(async { Ok(ArtifactPage::new(listed, None)) })
    }
}

fn rows() -> ArtifactKind {
    ArtifactKind::new("rows").unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    rows: Wanted<Vec<i64>>,
}

fn query() -> Tool {
    Tool::dynamic(
        "Finds rows",
        json!({"type": "object"}),
        |_, cx: Context| async move {
            let draft = ArtifactDraft::new(rows()).label("found");
            let kept = cx.artifacts().put(draft, json!([1, 2, 39])).await?;
            Ok(json!(kept.meta.reference.as_str()))
        },
    )
}

fn sum() -> Tool {
    Tool::new("Adds rows up", |input: Sum, _cx: Context| async move {
        Ok(input.rows.into_data()?.iter().sum::<i64>())
    })
    .wants("rows", rows())
    .into()
}

fn registry(
    builder: RegistryBuilder,
    tools: impl IntoIterator<Item = (&'static str, Tool)>,
) -> Registry {
    let registry = builder.build();
    registry.register(tools).unwrap().keep();
    registry
}

async fn settle(registry: &Registry, facts: &Facts, name: &str, arguments: Value) -> Settlement {
    let call = Call::new(name, arguments).id("c1");
    registry.snapshot().settle(call, facts).await
}

#[tokio::test]
async fn what_one_tool_puts_another_is_given_typed_and_the_call_is_stamped() {
    let (pantry, told) = (Pantry::default(), Recorder::default());
    let builder = open().artifacts(pantry.clone()).events(told.sink());
    let registry = registry(builder, [("query", query()), ("sum", sum())]);
    let facts = Facts::new().session("s1").run("r1");
    let found = settle(&registry, &facts, "query", json!({})).await;
    let reference = output(&found).as_str().unwrap().to_owned();
    let summed = settle(&registry, &facts, "sum", json!({"rows": reference})).await;
    assert_eq!(output(&summed), &json!(42));

    let (_, meta, _) = pantry.find(&facts, &reference).unwrap();
    assert_eq!(meta.origin.tool.as_deref(), Some("query"));
    assert_eq!(meta.origin.call.as_ref().map(|id| id.as_str()), Some("c1"));
    assert_eq!(meta.origin.run.as_ref(), facts.run_id());
    let printed: Vec<String> = told.told().into_iter().map(|told| told.printed).collect();
    assert!(
        printed
            .iter()
            .any(|told| told.contains("ArtifactKept(rows)"))
    );
    assert!(
        printed.iter().all(|told| !told.contains("39")),
        "no data in events"
    );
}

#[tokio::test]
async fn a_reference_that_does_not_fit_is_refused_with_those_that_do() {
    let registry = registry(
        open().artifacts(Pantry::default()),
        [("query", query()), ("sum", sum())],
    );
    let facts = Facts::new().session("s1");
    let none = settle(&registry, &facts, "sum", json!({"rows": "art_9"})).await;
    assert_eq!(refusal(&none).kind(), RefusalKind::Artifact);
    assert_eq!(
        none.text(),
        "rows names nothing that is there; it must be rows; there is none, produce one first"
    );
    settle(&registry, &facts, "query", json!({})).await;
    let one = settle(&registry, &facts, "sum", json!({"rows": "art_9"})).await;
    assert!(
        one.text().ends_with("; there are art_0 (found, 8 bytes)"),
        "{}",
        one.text()
    );
    let foreign = Facts::new().session("s2");
    let other = settle(&registry, &foreign, "sum", json!({"rows": "art_0"})).await;
    assert!(other.text().ends_with("there is none, produce one first"));
}

#[tokio::test]
async fn a_text_that_a_tool_cannot_read_is_a_failure_and_no_defect() {
    let pantry = Pantry::default();
    let facts = Facts::new();
    pantry
        .put(&facts, ArtifactDraft::new(rows()), "no list".into())
        .await
        .unwrap();
    let registry = registry(open().artifacts(pantry), [("sum", sum())]);
    let settled = settle(&registry, &facts, "sum", json!({"rows": "art_0"})).await;
    assert!(matches!(settled.outcome, Outcome::Failed(_)), "{settled:?}");
    assert!(settled.text().contains("does not hold data of the form"));
}

/// A store whose artifacts become others between two looks.
struct Changing;

impl ArtifactStore for Changing {
    fn get<'a>(
        &'a self,
        _facts: &'a Facts,
        _reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        let other = ArtifactKind::new("report").unwrap();
        Box::pin(async { Ok(Some(Artifact::new(other, json!([1, 2])))) })
    }

    fn head<'a>(
        &'a self,
        _facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        let (reference, created) = (reference.into(), SystemTime::UNIX_EPOCH);
        let meta = ArtifactMeta::new(reference, rows(), "application/json", 5, created);
        Box::pin(async { Ok(Some(meta)) })
    }
}

#[tokio::test]
async fn the_kind_that_counts_is_that_of_the_data() {
    let registry = registry(open().artifacts(Changing), [("sum", sum())]);
    let settled = settle(&registry, &Facts::new(), "sum", json!({"rows": "art_0"})).await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Artifact);
    assert_eq!(settled.text(), "rows must be rows, got report");
}

#[tokio::test]
async fn without_a_store_every_verb_answers_alike_and_it_is_told() {
    let told = Recorder::default();
    let asks = Tool::dynamic(
        "Asks",
        json!({"type": "object"}),
        |_, cx: Context| async move {
            let artifacts = cx.artifacts();
            assert!(!artifacts.is_available());
            let errors = [
                artifacts.put(ArtifactDraft::new(rows()), "x").await.err(),
                artifacts.get("art_0").await.err(),
                artifacts.head("art_0").await.err(),
                artifacts.delete("art_0").await.err(),
                artifacts.list(ArtifactQuery::new()).await.err(),
                artifacts.get_stream("art_0").await.err(),
                artifacts
                    .put_stream(ArtifactDraft::new(rows()), 0, stream::empty().boxed())
                    .await
                    .err(),
            ];
            let kinds: Vec<_> = errors
                .into_iter()
                .map(|error| error.unwrap().kind())
                .collect();
            assert_eq!(kinds, [ArtifactErrorKind::NoStore; 7]);
            Ok(json!(null))
        },
    );
    let registry = registry(open().events(told.sink()), [("asks", asks)]);
    let settled = settle(&registry, &Facts::new(), "asks", json!({})).await;
    assert!(!settled.is_error(), "{settled:?}");
    let told = told.told();
    for verb in [
        "put",
        "get",
        "head",
        "delete",
        "list",
        "get_stream",
        "put_stream",
    ] {
        let refused = format!("ArtifactRefused({verb}: no_store)");
        let times = told.iter().filter(|told| told.printed.contains(&refused));
        assert_eq!(times.count(), 1, "{verb}");
    }
}

#[tokio::test]
async fn an_inner_call_holds_no_artifacts() {
    let outer = Tool::dynamic(
        "Outer",
        json!({"type": "object"}),
        |_, cx: Context| async move {
            assert!(cx.artifacts().is_available());
            let inner = cx
                .dispatch()
                .unwrap()
                .call("query".to_owned(), json!({}))
                .await;
            Ok(json!(inner.outcome.as_str()))
        },
    );
    let registry = registry(
        open().artifacts(Pantry::default()),
        [("outer", outer), ("query", query())],
    );
    let settled = settle(&registry, &Facts::new(), "outer", json!({})).await;
    assert_eq!(output(&settled), &json!("defect"));
}

/// Who says each of the texts.
fn speakers(settlement: &Settlement) -> Vec<Speaker> {
    let texts = settlement.content.iter().filter_map(|block| match block {
        Content::Text(text) => Some(text.by),
        _ => None,
    });
    texts.collect()
}

fn says(text: String) -> Tool {
    Tool::dynamic("Says", json!({"type": "object"}), move |_, _| {
        let text = text.clone();
        async move { Ok(json!(text)) }
    })
}

fn ten() -> NonZeroUsize {
    NonZeroUsize::new(10).unwrap()
}

#[tokio::test]
async fn a_long_result_is_placed_under_its_kind_and_a_ticket_is_shown() {
    let pantry = Pantry::default();
    let builder = || open().artifacts(pantry.clone()).place_above(ten());
    let lists = Tool::dynamic("Lists", json!({"type": "object"}), |_, _| async {
        Ok(json!([1, 2, 3, 4, 5, 6]))
    })
    .result_kind(rows());
    let tools = [
        ("long", says("x".repeat(11))),
        ("lists", lists),
        ("short", says("x".repeat(10))),
    ];
    let registry = registry(builder(), tools);
    let facts = Facts::new();

    let short = settle(&registry, &facts, "short", json!({})).await;
    assert_eq!(short.text(), "x".repeat(10));
    for (name, kind, media, payload) in [
        (
            "long",
            "tool-result/long",
            "text/plain",
            Payload::from("x".repeat(11)),
        ),
        (
            "lists",
            "rows",
            "application/json",
            json!([1, 2, 3, 4, 5, 6]).into(),
        ),
    ] {
        let settled = settle(&registry, &facts, name, json!({})).await;
        assert!(matches!(settled.outcome, Outcome::Completed));
        let ticket: Value = serde_json::from_str(&settled.text()).unwrap();
        assert_eq!(ticket["placed"], json!(true));
        assert_eq!(ticket["kind"], kind);
        assert_eq!(ticket["mediaType"], media);
        let reference = ticket["ref"].as_str().unwrap();
        assert_eq!(pantry.find(&facts, reference).unwrap().2, payload);
    }
}

#[tokio::test]
async fn what_cannot_be_placed_is_bounded_and_a_failure_is_never_placed() {
    let fails = Tool::dynamic("Fails", json!({"type": "object"}), |_, _| async {
        Err::<Value, _>(tool_core::ToolFailure::new("y".repeat(40)).into())
    });
    let tiny = Bound::new(16, 2).unwrap();
    let drawer = Drawer::default();
    // This store takes nothing in.
    let store = crate::ports::Shelf(|_: &str| Ok(None));
    let builder = open()
        .artifacts(store)
        .outputs(Arc::new(drawer.clone()))
        .bound(tiny)
        .place_above(ten());
    let registry = registry(builder, [("long", says("x".repeat(40))), ("fails", fails)]);
    for name in ["long", "fails"] {
        let settled = settle(&registry, &Facts::new(), name, json!({})).await;
        assert_eq!(settled.retained.len(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_tool_can_want_its_long_text_cut_or_refused() {
    let bound = Bound::new(16, 2).unwrap();
    let drawer = Drawer::default();
    let builder = open().outputs(Arc::new(drawer.clone()));
    let tools = [
        (
            "cut",
            says("x".repeat(40)).bounding(Bounding::Truncate(bound)),
        ),
        (
            "refused",
            says("x\n".repeat(20))
                .bounding(Bounding::Refuse(bound))
                .narrow_by(["from", "to"]),
        ),
        (
            "fits",
            says("x".repeat(16)).bounding(Bounding::Refuse(bound)),
        ),
    ];
    let registry = registry(builder, tools);
    let facts = Facts::new();
    let cut = settle(&registry, &facts, "cut", json!({})).await;
    assert!(!cut.is_error() && cut.retained.is_empty());
    assert!(cut.text().contains("kept nowhere"), "{}", cut.text());
    assert_eq!(speakers(&cut), [Speaker::Runtime]);
    // A tool can print the same words, and says them itself.
    let forged = says(cut.text().to_owned());
    let bound = Bound::new(cut.text().len(), 2).unwrap();
    let forger = forged.bounding(Bounding::Truncate(bound));
    registry.register([("forger", forger)]).unwrap().keep();
    let whole = settle(&registry, &facts, "forger", json!({})).await;
    assert_eq!(whole.text(), cut.text());
    assert_eq!(speakers(&whole), [Speaker::Producer]);
    let refused = settle(&registry, &facts, "refused", json!({})).await;
    assert_eq!(refusal(&refused).kind(), RefusalKind::TooLong);
    assert_eq!(
        refused.text(),
        "the result has 40 bytes in 20 lines and the most is 16 bytes in 2 lines; no data was \
         returned; narrow it by from, to"
    );
    assert!(refused.output.is_none(), "no channel gets it");
    assert_eq!(
        settle(&registry, &facts, "fits", json!({})).await.text(),
        "x".repeat(16)
    );
    assert!(drawer.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_a_tool_left_out_itself_is_told_to_the_model_beside_the_rest() {
    let loses = Tool::dynamic(
        "Loses",
        json!({"type": "object"}),
        |_, cx: Context| async move {
            cx.report_loss(Loss::bytes(0));
            cx.report_loss(Loss::of(7, "rows"));
            cx.report_loss(Loss::bytes(9));
            Ok(json!("the rest"))
        },
    );
    let registry = registry(open(), [("loses", loses)]);
    let settled = settle(&registry, &Facts::new(), "loses", json!({})).await;
    assert_eq!(
        settled.content,
        [
            Content::text("the rest"),
            Content::notice("[The tool itself left out 7 rows; nobody keeps them.]"),
        ]
    );
}
