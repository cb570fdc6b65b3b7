//! Laws 1, 2, 3, 6 and 7: what a call runs, what its codec lets through, whose it is, and that it
//! settles once, whatever its siblings do.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use tool_core::{
    Call, Content, Context, Decision, Facts, Identification, NobodyToAsk, Outcome, Permission,
    Request, Settlement, Tool, ToolFailure,
};
use tool_registry::{Registration, Registry};

use crate::ports::{Count, Rules, open, rule};
use crate::recorder::Recorder;
use crate::tools::{call, echo, fixed, invalid, output, run, settle};

#[tokio::test]
async fn law_01_a_definition_invokes_its_own_executor_and_no_other() {
    let (registry, runs) = (open().build(), Count::default());
    let counted = |said: &'static str| {
        let runs = runs.clone();
        run(move |_| {
            runs.add();
            async move { Ok(json!(said)) }
        })
    };
    let _tools = registry
        .register([("one", counted("one")), ("two", counted("two"))])
        .unwrap();
    assert_eq!(call(&registry, "one").await.text(), "one");
    assert_eq!(call(&registry, "two").await.text(), "two");
    assert_eq!(runs.get(), 2);
}

#[tokio::test]
async fn law_01_one_value_under_two_names_is_two_independent_entries() {
    let registry = open().build();
    let tool = fixed("the same");
    let first = registry.register([("one", tool.clone())]).unwrap();
    let _second = registry
        .register([("two", tool.clone().title("Two"))])
        .unwrap();
    drop(first);
    let snapshot = registry.snapshot();
    assert!(snapshot.get("one").is_none());
    assert_eq!(call(&registry, "two").await.text(), "the same");
    let title = &snapshot.get("two").unwrap().definition().annotations.title;
    assert_eq!(title.as_deref(), Some("Two"));
    assert!(tool.declarations().annotations.title.is_none());
}

/// Spelled as text outside, a number inside.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cents(i64);

impl Serialize for Cents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}.{:02}", self.0 / 100, self.0 % 100))
    }
}

impl<'de> Deserialize<'de> for Cents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (whole, part) = text
            .split_once('.')
            .ok_or_else(|| serde::de::Error::custom(format!("no amount: {text}")))?;
        let number = |digits: &str| digits.parse::<i64>().map_err(serde::de::Error::custom);
        Ok(Self(number(whole)? * 100 + number(part)?))
    }
}

/// A time of day, written by a module rather than by a type.
mod clock {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        minutes: &u32,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}:{:02}", minutes / 60, minutes % 60))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (hours, minutes) = text
            .split_once(':')
            .ok_or_else(|| serde::de::Error::custom("no time"))?;
        let number = |digits: &str| digits.parse::<u32>().map_err(serde::de::Error::custom);
        Ok(number(hours)? * 60 + number(minutes)?)
    }
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Order {
    #[schemars(with = "String")]
    price: Cents,
    #[serde(with = "clock")]
    #[schemars(with = "String")]
    at: u32,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Receipt {
    #[schemars(with = "String")]
    total: Cents,
    /// Never leaves the tool.
    #[serde(skip_serializing, default)]
    #[schemars(skip)]
    card: String,
}

fn order(seen: &Arc<Mutex<Vec<String>>>) -> Tool {
    let (handler_saw, projection_saw) = (seen.clone(), seen.clone());
    Tool::new("Orders something", move |input: Order, _: Context| {
        let saw = format!("handler: {} {}", input.price.0, input.at);
        handler_saw.lock().unwrap().push(saw);
        async move {
            Ok(Receipt {
                total: Cents(input.price.0 * 2),
                card: "canary-card".to_owned(),
            })
        }
    })
    .model(move |input, receipt| {
        let saw = format!("projection: {} [{}]", receipt.total.0, receipt.card);
        projection_saw.lock().unwrap().push(saw);
        [Content::text(format!(
            "{} at {}",
            receipt.total.0, input.at
        ))]
    })
    .into()
}

#[tokio::test]
async fn law_02_the_executor_sees_decoded_input_and_projection_sees_encoded_output() {
    let seen = Arc::default();
    let settled = settle(order(&seen), r#"{"price":"12.50","at":"9:05"}"#).await;
    assert_eq!(output(&settled), &json!({"total": "25.00"}));
    assert_eq!(settled.structured, Some(json!({"total": "25.00"})));
    assert_eq!(settled.text(), "2500 at 545");
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen, ["handler: 1250 545", "projection: 2500 []"]);
    assert!(!format!("{settled:?}").contains("canary-card"));
}

#[tokio::test]
async fn law_02_input_of_the_decoded_type_is_refused_and_not_run() {
    let seen = Arc::default();
    let settled = settle(order(&seen), r#"{"price":1250,"at":545}"#).await;
    assert_eq!(invalid(&settled).issues().len(), 2);
    let settled = settle(order(&seen), r#"{"price":"twelve","at":"9:05"}"#).await;
    assert!(settled.text().contains("at /price"), "{}", settled.text());
    assert!(!settled.text().contains("twelve"), "{}", settled.text());
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn law_02_the_advertised_schemas_are_those_of_the_encoded_side() {
    let tool = order(&Arc::default());
    let input = tool.input().as_value();
    assert_eq!(input["properties"]["price"]["type"], "string");
    assert_eq!(input["properties"]["at"]["type"], "string");
    let output = tool.output().unwrap().as_value();
    assert_eq!(output["properties"]["total"]["type"], "string");
    assert!(output["properties"].get("card").is_none());
}

#[tokio::test]
async fn law_02_a_structured_projection_has_its_own_schema_and_leaves_the_output_whole() {
    let tool = Tool::new(
        "Counts",
        |_: Empty, _: Context| async move { Ok(vec![1, 2, 3]) },
    )
    .structured(|all: Vec<i32>| all.len());
    let settled = settle(tool.clone(), "{}").await;
    assert_eq!(settled.output, Some(json!([1, 2, 3])));
    assert_eq!(settled.structured, Some(json!(3)));
    let tool = Tool::from(tool);
    assert_eq!(
        tool.advertised_output().unwrap().as_value()["type"],
        "integer"
    );
    assert_eq!(tool.output().unwrap().as_value()["type"], "array");
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Empty {}

#[tokio::test]
async fn law_02_without_a_model_projection_text_is_verbatim_and_the_rest_is_compact_json() {
    let said = |value: Value| async move {
        let tool = run(move |_| {
            let value = value.clone();
            async move { Ok(value) }
        });
        settle(tool, "{}").await.content
    };
    assert_eq!(said(json!("a \"b\"\n")).await, [Content::text("a \"b\"\n")]);
    assert_eq!(
        said(json!({"a": [1, null]})).await,
        [Content::text(r#"{"a":[1,null]}"#)]
    );
    assert_eq!(said(json!(1.5)).await, [Content::text("1.5")]);
    assert_eq!(said(Value::Null).await, []);
}

/// The ids that a handler was given, as text, absent ones as `-`.
fn ids() -> Tool {
    run(|cx: Context| async move {
        let shown = |id: Option<&str>| id.unwrap_or("-").to_owned();
        Ok(json!([
            shown(cx.session_id().map(|id| id.as_str())),
            shown(cx.agent_id().map(|id| id.as_str())),
            shown(cx.message_id().map(|id| id.as_str())),
            shown(cx.run_id().map(|id| id.as_str())),
            shown(cx.call_id().map(|id| id.as_str())),
            shown(cx.identification().and_then(|who| who.principal.as_deref())),
        ]))
    })
}

#[tokio::test]
async fn law_03_the_executor_gets_exactly_the_ids_of_the_host() {
    let registry = open().build();
    let _ids = registry.register([("ids", ids())]).unwrap();
    let facts = Facts::new()
        .session(" s/1 ")
        .agent("Ägent")
        .message("m-1")
        .run("r 1")
        .identity(Identification::principal("ada"));
    let call = Call::new("ids", "{}").id("call_1");
    let settled = registry.snapshot().settle(call, &facts).await;
    assert_eq!(
        output(&settled),
        &json!([" s/1 ", "Ägent", "m-1", "r 1", "call_1", "ada"])
    );
    assert_eq!(settled.call.unwrap().as_str(), "call_1");
}

#[tokio::test]
async fn law_03_an_absent_id_stays_absent() {
    let registry = open().build();
    let _ids = registry.register([("ids", ids())]).unwrap();
    let settled = call(&registry, "ids").await;
    assert_eq!(output(&settled), &json!(["-", "-", "-", "-", "-", "-"]));
    assert_eq!(settled.call, None);

    let call = Call::new("ids", "{}");
    let settled = registry
        .snapshot()
        .settle(call, &Facts::new().agent("a"))
        .await;
    assert_eq!(output(&settled), &json!(["-", "a", "-", "-", "-", "-"]));
}

#[tokio::test]
async fn law_06_one_bad_call_among_many_stops_none_of_its_siblings() {
    let recorder = Recorder::default();
    let (registry, _tools) = mixed(&recorder, 8);
    for bad in Kind::ALL {
        let mut calls: Vec<_> = (0..27).map(|_| Kind::Completes.call(None)).collect();
        calls[13] = bad.call(None);
        let settled = registry.snapshot().settle_all(calls, &Facts::new()).await;
        for (position, settlement) in settled.iter().enumerate() {
            let expected = if position == 13 { bad } else { Kind::Completes };
            assert_eq!(
                settlement.outcome.as_str(),
                expected.ends(),
                "{bad:?} at {position}"
            );
        }
    }
}

/// One sort of call and how it must end.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Completes,
    Unknown,
    BadJson,
    Invalid,
    Denied,
    Fails,
    Breaks,
    PanicsAtOnce,
    PanicsLater,
    PanicsWhenEncoded,
    PanicsWhenProjected,
    PanicsWithABomb,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::Completes,
        Self::Unknown,
        Self::BadJson,
        Self::Invalid,
        Self::Denied,
        Self::Fails,
        Self::Breaks,
        Self::PanicsAtOnce,
        Self::PanicsLater,
        Self::PanicsWhenEncoded,
        Self::PanicsWhenProjected,
        Self::PanicsWithABomb,
    ];

    fn call(self, id: Option<&'static str>) -> Call {
        let (name, arguments) = match self {
            Self::Completes => ("ok", r#"{"text":"fine"}"#),
            Self::Unknown => ("missing", "{}"),
            Self::BadJson => ("ok", "{\"text\":"),
            Self::Invalid => ("ok", "{}"),
            Self::Denied => ("denied", "{}"),
            Self::Fails => ("fails", "{}"),
            Self::Breaks => ("breaks", "{}"),
            Self::PanicsAtOnce => ("panics_at_once", "{}"),
            Self::PanicsLater => ("panics_later", "{}"),
            Self::PanicsWhenEncoded => ("panics_when_encoded", "{}"),
            Self::PanicsWhenProjected => ("panics_when_projected", "{}"),
            Self::PanicsWithABomb => ("panics_with_a_bomb", "{}"),
        };
        let call = Call::new(name, arguments);
        match id {
            Some(id) => call.id(id),
            None => call,
        }
    }

    fn ends(self) -> &'static str {
        match self {
            Self::Completes => "completed",
            Self::Unknown | Self::BadJson | Self::Invalid | Self::Denied => "refused",
            Self::Fails => "failed",
            _ => "defect",
        }
    }
}

/// Panics when it is encoded.
#[derive(schemars::JsonSchema)]
struct Explosive;

impl Serialize for Explosive {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("encoded");
    }
}

/// Panics when what was panicked with is given up.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

fn mixed(recorder: &Recorder, limit: usize) -> (Registry, Registration) {
    let policy = Rules(|request: &Request<'_>| {
        let denied = request
            .tool
            .is_some_and(|tool| tool.name().as_str() == "denied");
        rule(if denied {
            Decision::Deny
        } else {
            Decision::Allow
        })
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .batch_concurrency(limit.try_into().unwrap())
        .events(recorder.sink())
        .build();
    let tools: Vec<(&str, Tool)> = vec![
        ("ok", echo().into()),
        ("denied", fixed("no")),
        (
            "fails",
            run(|_| async { Err(ToolFailure::new("expected").into()) }),
        ),
        (
            "breaks",
            run(|_| async { Err(std::io::Error::other("unexpected").into()) }),
        ),
        (
            "panics_at_once",
            run(|_| -> std::future::Ready<_> { panic!("at once") }),
        ),
        (
            "panics_later",
            run(|_| async {
                tokio::task::yield_now().await;
                panic!("later")
            }),
        ),
        (
            "panics_when_encoded",
            Tool::new("Explodes", |_: Empty, _: Context| async { Ok(Explosive) }).into(),
        ),
        (
            "panics_when_projected",
            fixed("x").model(|_, _| -> Vec<Content> { panic!("projected") }),
        ),
        (
            "panics_with_a_bomb",
            run(|_| async { std::panic::panic_any(Bomb) }),
        ),
    ];
    let registration = registry.register(tools).unwrap();
    (registry, registration)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn law_07_every_position_of_a_batch_has_exactly_one_settlement_with_its_own_id(
        kinds in prop::collection::vec(
            // Ids are missing and repeated, as models do.
            (prop::sample::select(Kind::ALL.to_vec()), prop::sample::select(vec![None, Some("a"), Some("b")])),
            0..20,
        ),
        limit in 1_usize..5,
    ) {
        let recorder = Recorder::default();
        let (registry, _tools) = mixed(&recorder, limit);
        let calls: Vec<_> = kinds.iter().map(|(kind, id)| kind.call(*id)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let settled = runtime.block_on(registry.snapshot().settle_all(calls.clone(), &Facts::new()));

        prop_assert_eq!(settled.len(), kinds.len());
        for ((kind, id), settlement) in kinds.iter().zip(&settled) {
            prop_assert_eq!(settlement.outcome.as_str(), kind.ends(), "{:?}", kind);
            prop_assert_eq!(settlement.call.as_ref().map(|id| id.as_str()), *id);
        }
        for (call, settlement) in calls.iter().zip(&settled) {
            prop_assert_eq!(call.name(), &settlement.tool);
            prop_assert!(!settlement.is_error() || !settlement.text().is_empty());
        }
        prop_assert_eq!(recorder.settlements(), kinds.len());
    }
}

#[tokio::test]
async fn law_07_results_are_keyed_by_position_not_by_name_or_id() {
    let registry = open().build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let calls = (0..5).map(|n| Call::new("echo", format!(r#"{{"text":"{n}"}}"#)).id("call_0"));
    let settled = registry.snapshot().settle_all(calls, &Facts::new()).await;
    let texts: Vec<_> = settled.iter().map(Settlement::text).collect();
    assert_eq!(texts, ["0", "1", "2", "3", "4"]);
    assert!(
        settled
            .iter()
            .all(|one| matches!(one.outcome, Outcome::Completed))
    );
}
