//! Laws 8 and 9: bounding changes what is shown and nothing else, and never loses anything.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{
    Bound, Bounding, Call, Content, Defect, DefectKind, Facts, Outcome, Produced, Retained,
    Settlement, Tool, ToolFailure,
};

use crate::ports::{Drawer, Full, open};
use crate::recorder::Recorder;
use crate::tools::run;

fn tiny() -> Bound {
    Bound::new(16, 2).unwrap()
}

fn gives(produced: Produced) -> Tool {
    Tool::dynamic("Gives", json!({"type": "object"}), move |_, _| {
        let produced = produced.clone();
        async move { Ok(produced) }
    })
}

/// Settles a call under a tiny bound, with a store or without one.
async fn bounded(tool: Tool, store: Option<&Drawer>) -> Settlement {
    let mut builder = open().bound(tiny());
    if let Some(store) = store {
        builder = builder.outputs(Arc::new(store.clone()));
    }
    let registry = builder.build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let call = Call::new("tool", "{}").id("c1");
    registry.snapshot().settle(call, &Facts::new()).await
}

fn outputs() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-zß\n]{0,64}".prop_map(Value::from),
        prop::collection::vec("[a-z]{0,8}", 0..12).prop_map(|list| json!(list)),
        prop::collection::btree_map("[a-z]{1,4}", any::<i64>(), 0..8).prop_map(|map| json!(map)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn law_08_the_output_is_the_same_with_and_without_bounding(output in outputs()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = Drawer::default();
            let plain = bounded(gives(Produced::value(output.clone())), None).await;
            let cut = bounded(gives(Produced::value(output.clone())), Some(&store)).await;
            assert_eq!(cut.output(), Some(&output));
            assert_eq!(cut.output, plain.output);
            assert_eq!(cut.structured(), plain.structured());
            assert_eq!(cut.is_error(), plain.is_error());

            // What is shown in part is kept whole, and what is kept is what would be shown.
            let over = tiny().is_exceeded_by(plain.content.iter().filter_map(Content::as_text));
            let kept = store.kept.lock().unwrap().clone();
            assert_eq!(kept.len(), usize::from(over));
            assert_eq!(cut.retained.len(), kept.len());
            match kept.as_slice() {
                [] => assert_eq!(cut.content, plain.content),
                [(tool, whole), ..] => assert_eq!((tool.as_str(), whole), ("tool", &plain.text())),
            }
        });
    }
}

#[tokio::test]
async fn law_08_media_and_structured_output_pass_bounding_unchanged_and_in_order() {
    let image = Content::image("image/png", vec![0_u8; 4096]);
    let long = Content::text("x".repeat(100));
    let produced = Produced::value(json!({"rows": [1, 2, 3]})).with_content([
        long.clone(),
        image.clone(),
        long,
    ]);
    let store = Drawer::default();
    let settled = bounded(gives(produced), Some(&store)).await;
    assert_eq!(settled.content, [Content::text("preview"), image]);
    assert_eq!(settled.structured(), Some(&json!({"rows": [1, 2, 3]})));
    let kept = store.kept.lock().unwrap().clone();
    assert_eq!(kept[0].1, format!("{0}\n{0}", "x".repeat(100)));
}

#[tokio::test]
async fn law_08_media_alone_is_never_measured() {
    let image = Content::image("image/png", vec![0_u8; 1 << 20]);
    let store = Drawer::default();
    let settled = bounded(gives(Produced::content([image.clone()])), Some(&store)).await;
    assert_eq!(settled.content, [image]);
    assert!(store.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn law_08_a_failure_stays_a_failure_when_its_text_is_bounded() {
    let failing = run(|_| async {
        let failure = ToolFailure::new("why\n".repeat(50)).structured(json!({"code": 404}));
        Err(failure.into())
    });
    let store = Drawer::default();
    let settled = bounded(failing, Some(&store)).await;
    assert!(settled.is_error());
    assert!(matches!(settled.outcome, Outcome::Failed(_)));
    assert_eq!(settled.text(), "preview");
    assert_eq!(settled.structured(), Some(&json!({"code": 404})));
    assert_eq!(store.kept.lock().unwrap()[0].1, "why\n".repeat(50));
}

#[tokio::test]
async fn law_08_structured_output_alone_is_stored_once_and_shown_as_one_text() {
    let store = Drawer::default();
    let output = json!({"rows": "x".repeat(100)});
    let settled = bounded(gives(Produced::value(output.clone())), Some(&store)).await;
    assert_eq!(settled.content, [Content::text("preview")]);
    assert_eq!(settled.output(), Some(&output));
    let kept = store.kept.lock().unwrap().clone();
    assert_eq!(kept, [("tool".to_owned(), output.to_string())]);
    let [Retained { id, bytes, .. }] = settled.retained.as_slice() else {
        panic!("expected one retained output");
    };
    assert_eq!(
        (id.as_str(), *bytes),
        ("out_1", output.to_string().len() as u64)
    );
}

const CANARY: &str = "canary-7f3a";

#[tokio::test]
async fn law_09_output_that_cannot_be_retained_is_a_defect_with_nothing_of_its_text() {
    let long = || format!("{CANARY} ").repeat(20);
    let tools = [
        gives(Produced::value(long())),
        gives(Produced::value(json!({"rows": [long()]}))),
        gives(Produced::value(json!(1)).with_content([Content::text(long())])),
        gives(Produced::content([
            Content::text(long()),
            Content::text(long()),
        ])),
        run(move |_| async move { Err(ToolFailure::new(long()).into()) }),
        run(move |_| async move {
            Err(ToolFailure::new("short")
                .content([Content::text(long())])
                .into())
        }),
    ];
    for tool in tools {
        let recorder = Recorder::default();
        let registry = open()
            .bound(tiny())
            .outputs(Arc::new(Full))
            .events(recorder.sink())
            .build();
        let _tool = registry.register([("tool", tool)]).unwrap();
        let call = Call::new("tool", "{}").id("c1");
        let settled = registry.snapshot().settle(call, &Facts::new()).await;
        let Outcome::Defect(defect) = &settled.outcome else {
            panic!("expected a defect, got {}", settled.outcome.as_str());
        };
        assert_eq!(defect.kind(), DefectKind::Retention);
        assert_eq!(settled.text(), Defect::MODEL_TEXT);
        assert_eq!((settled.output(), settled.structured()), (None, None));
        assert!(settled.retained.is_empty());
        assert!(!format!("{settled:?}").contains(CANARY));
        assert!(
            recorder
                .told()
                .iter()
                .all(|told| !told.printed.contains(CANARY))
        );
        let cause = std::error::Error::source(defect).unwrap().to_string();
        assert!(cause.contains("no space left"), "{cause}");
    }
}

#[tokio::test]
async fn law_09_output_within_the_bound_needs_no_store_that_works() {
    let registry = open().bound(tiny()).outputs(Arc::new(Full)).build();
    let tools = [("short", gives(Produced::value("sixteen bytes ok")))];
    let _tools = registry.register(tools).unwrap();
    let settled = crate::tools::call(&registry, "short").await;
    assert_eq!(settled.text(), "sixteen bytes ok");
}

#[tokio::test]
async fn law_09_a_tool_that_bounds_its_own_text_is_never_retained() {
    let registry = open().bound(tiny()).outputs(Arc::new(Full)).build();
    let long = gives(Produced::value("x".repeat(100)));
    let tools = [
        ("inline", long.clone().bounding(Bounding::Inline)),
        (
            "wide",
            long.bounding(Bounding::Within(Bound::new(100, 1).unwrap())),
        ),
    ];
    let _tools = registry.register(tools).unwrap();
    for name in ["inline", "wide"] {
        let settled = crate::tools::call(&registry, name).await;
        assert_eq!(settled.text(), "x".repeat(100), "{name}");
    }
}

#[tokio::test]
async fn a_bound_that_is_changed_holds_for_requests_that_are_under_way() {
    let store = Drawer::default();
    let registry = open().outputs(Arc::new(store.clone())).build();
    let tools = [("tool", gives(Produced::value("x".repeat(100))))];
    let _tools = registry.register(tools).unwrap();
    let request = registry.snapshot();
    let settle = || request.settle(Call::new("tool", "{}"), &Facts::new());
    assert_eq!(settle().await.text(), "x".repeat(100));
    registry.set_bound(tiny());
    assert_eq!(settle().await.text(), "preview");
    assert_eq!(store.kept.lock().unwrap().len(), 1);
}
