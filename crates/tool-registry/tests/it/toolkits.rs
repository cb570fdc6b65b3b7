//! Toolkits: building, merging, and reading settlements by type.

use serde_json::json;
use tool_core::{Call, Context, Facts, HandlerErrorKind, Tool, ToolFailure, TypedTool};
use tool_registry::{HandleError, Merge, Toolkit};

use crate::ports::open;
use crate::tools::{Say, echo, fixed};

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Repeat {
    #[serde(with = "as_text")]
    #[schemars(with = "String")]
    times: u32,
}

/// A number that is written as text.
mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(number: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&number.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

fn more() -> TypedTool<Repeat, Repeat> {
    Tool::new("Adds one", |input: Repeat, _cx: Context| async move {
        if input.times == 13 {
            return Err(ToolFailure::new("unlucky").into());
        }
        Ok(Repeat {
            times: input.times + 1,
        })
    })
}

#[tokio::test]
async fn a_handle_calls_and_decodes_through_the_codec_boundary() {
    let (kit, more) = Toolkit::new().with_handle("more", more()).unwrap();
    let registry = open().build();
    let _kit = registry.register(kit).unwrap();
    let snapshot = registry.snapshot();
    let facts = Facts::new();
    let output = more
        .call(&snapshot, &Repeat { times: 3 }, &facts)
        .await
        .unwrap();
    assert_eq!(output, Repeat { times: 4 });

    let settled = snapshot
        .settle(Call::new("more", r#"{"times":"7"}"#), &facts)
        .await;
    assert_eq!(settled.output(), Some(&json!({"times": "8"})));
    assert_eq!(more.output(&settled).unwrap().times, 8);
    let error = more
        .call(&snapshot, &Repeat { times: 13 }, &facts)
        .await
        .unwrap_err();
    assert!(matches!(error, HandleError::Call(_)));
}

#[tokio::test]
async fn a_typed_tool_can_be_tried_without_a_registry() {
    let output = more()
        .call(Repeat { times: 1 }, Context::detached())
        .await
        .unwrap();
    assert_eq!(output.times, 2);
    let error = more()
        .call(Repeat { times: 13 }, Context::detached())
        .await
        .unwrap_err();
    assert!(matches!(error.into_kind(), HandlerErrorKind::Failure(_)));
}

#[test]
fn a_name_stands_once_in_a_kit() {
    let error = Toolkit::new()
        .with("a", fixed("1"))
        .unwrap()
        .with("a", fixed("2"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the kit has two tools named a; rename one, or merge another way"
    );
}

#[tokio::test]
async fn merging_rejects_or_prefers_or_prefixes() {
    let kit = |tools: [(&'static str, &'static str); 2]| {
        let [(a, x), (b, y)] = tools;
        Toolkit::new()
            .with(a, fixed(x))
            .unwrap()
            .with(b, fixed(y))
            .unwrap()
    };
    let (left, right) = (
        kit([("a", "left a"), ("b", "left b")]),
        kit([("b", "right b"), ("c", "right c")]),
    );
    let rejected = left
        .clone()
        .merge(right.clone(), &Merge::Reject)
        .unwrap_err();
    assert!(rejected.to_string().contains("named b"));

    let cases = [
        (
            Merge::Right,
            vec![("a", "left a"), ("b", "right b"), ("c", "right c")],
        ),
        (
            Merge::Left,
            vec![("a", "left a"), ("b", "left b"), ("c", "right c")],
        ),
        (
            Merge::Prefix("r".to_owned()),
            vec![
                ("a", "left a"),
                ("b", "left b"),
                ("r_b", "right b"),
                ("r_c", "right c"),
            ],
        ),
    ];
    for (merge, expected) in cases {
        let merged = left.clone().merge(right.clone(), &merge).unwrap();
        let names: Vec<_> = merged.names().collect();
        assert_eq!(
            names,
            expected.iter().map(|(name, _)| *name).collect::<Vec<_>>()
        );
        let registry = open().build();
        let _kit = registry.register(merged).unwrap();
        for (name, text) in expected {
            assert_eq!(crate::tools::call(&registry, name).await.text(), text);
        }
    }
}

#[tokio::test]
async fn a_waiting_call_has_no_output_yet() {
    let registry = tool_registry::Registry::default();
    let (kit, say) = Toolkit::new().with_handle("echo", echo()).unwrap();
    let _kit = registry.register(kit).unwrap();
    let call = Call::new("echo", json!({"text": "x"}));
    let settling = registry.snapshot().settle(call, &Facts::new());
    let settled = settling.approvals(tool_registry::Approvals::Suspend).await;
    assert!(matches!(say.output(&settled), Err(HandleError::Suspended)));
    let input = Say {
        text: "x".to_owned(),
    };
    let refused = say.call(&registry.snapshot(), &input, &Facts::new()).await;
    assert!(matches!(refused, Err(HandleError::Call(_))));
}

#[test]
fn one_tool_that_two_kits_share_is_no_clash() {
    let shared = fixed("shared");
    let kit = |other| {
        let kit = Toolkit::new().with("shared", shared.clone()).unwrap();
        kit.with(other, fixed("x")).unwrap()
    };
    for merge in [Merge::Reject, Merge::Right, Merge::Left] {
        let merged = kit("a").merge(kit("b"), &merge).unwrap();
        assert_eq!(merged.names().collect::<Vec<_>>(), ["shared", "a", "b"]);
    }
    let changed = Toolkit::new()
        .with("shared", shared.clone().title("Other"))
        .unwrap();
    assert!(kit("a").merge(changed, &Merge::Reject).is_err());
}
