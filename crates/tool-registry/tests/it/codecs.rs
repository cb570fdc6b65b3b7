//! Codecs of a tool's author: whatever sees a value of the tool's types goes by them.

use std::error::Error;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tool_core::{
    Call, CallFacts, CheckIn, Component, Content, Context, Decoder, Encoder, Facts, Gate,
    HandlerError, InvalidArguments, Issue, NeedsApproval, Outcome, PreliminaryError, Tool,
    TypedTool,
};
use tool_registry::{Approvals, HandleError, Registry, SettlementEvent, Toolkit};

use crate::ports::open;
use crate::tools::{invalid, settle};

/// An amount that serde knows nothing of. Outside it is `{"amount": "12.50"}`.
#[derive(Debug, PartialEq)]
struct Paid {
    cents: u64,
}

/// What was paid in all; outside it is a text.
#[derive(Debug, PartialEq)]
struct Total(u64);

/// Reads and writes both.
struct Money;

fn spell(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn read(text: Option<&str>, path: &str) -> Result<u64, InvalidArguments> {
    let parts = text.and_then(|text| text.split_once('.'));
    let cents = parts.and_then(|(whole, part)| {
        Some(whole.parse::<u64>().ok()? * 100 + part.parse::<u64>().ok()?)
    });
    cents.ok_or_else(|| {
        InvalidArguments::new([Issue::Constraint {
            path: path.to_owned(),
            rule: "expected an amount".to_owned(),
        }])
    })
}

impl Decoder<Paid> for Money {
    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"amount": {"type": "string"}}, "required": ["amount"]})
    }

    fn decode(&self, input: &Value) -> Result<Paid, InvalidArguments> {
        let cents = read(input["amount"].as_str(), "/amount")?;
        Ok(Paid { cents })
    }
}

impl Encoder<Paid> for Money {
    fn schema(&self) -> Option<Value> {
        None
    }

    fn encode(&self, paid: &Paid) -> Result<Value, Box<dyn Error + Send + Sync>> {
        match paid.cents {
            13 => Err("unlucky".into()),
            cents => Ok(json!({"amount": spell(cents)})),
        }
    }
}

impl Encoder<Total> for Money {
    fn schema(&self) -> Option<Value> {
        Some(json!({"type": "string"}))
    }

    fn encode(&self, total: &Total) -> Result<Value, Box<dyn Error + Send + Sync>> {
        match total.0 {
            0 => Ok(json!("nothing")),
            13 => Err("unlucky".into()),
            cents => Ok(json!(spell(cents))),
        }
    }
}

impl Decoder<Total> for Money {
    fn schema(&self) -> Value {
        json!({"type": "string"})
    }

    fn decode(&self, output: &Value) -> Result<Total, InvalidArguments> {
        Ok(Total(read(output.as_str(), "")?))
    }
}

/// Pays twice what it is told.
fn pay() -> TypedTool<Paid, Total, Money, Money> {
    Tool::with_codecs("Pays", Money, Money, |paid: Paid, _: Context| async move {
        Ok(Total(2 * paid.cents))
    })
}

fn registered(tool: impl Into<Tool>) -> Registry {
    let registry = open().build();
    registry.register([("pay", tool.into())]).unwrap().keep();
    registry
}

#[tokio::test]
async fn projections_read_by_the_codecs_of_the_tool() {
    let tool = pay()
        .model(|paid, total| [Content::text(format!("{} of {}", paid.cents, total.0))])
        .structured(|total| json!({"cents": total.0}));
    let settled = settle(tool.clone(), r#"{"amount":"1.25"}"#).await;
    assert_eq!(settled.text(), "125 of 250");
    assert_eq!(settled.output(), Some(&json!("2.50")));
    assert_eq!(settled.structured(), Some(&json!({"cents": 250})));
    // What was written and does not read back is a fault of the codec.
    let settled = settle(tool.clone(), r#"{"amount":"0.00"}"#).await;
    assert_eq!(settled.outcome.kind(), Some("projection"));
    let settled = settle(tool, r#"{"amount":"many"}"#).await;
    assert_eq!(
        invalid(&settled).to_string(),
        "expected an amount at /amount"
    );
}

#[tokio::test]
async fn predicates_see_what_the_codec_of_the_tool_decoded() {
    let component = Component::new("bill");
    let tool = pay()
        .needs_approval_when(|paid, facts: CallFacts| async move {
            assert_eq!(facts.call.as_ref().map(|id| id.as_str()), Some("c1"));
            Ok(paid.cents > 10_000)
        })
        .check_in(CheckIn::always().component(component))
        .check_in_when(|paid| Ok(paid.cents > 1_000));
    let registry = registered(tool);
    let settle = |amount: &str| {
        let call = Call::new("pay", json!({"amount": amount})).id("c1");
        let settling = registry.snapshot().settle(call, &Facts::new());
        settling.approvals(Approvals::Suspend).into_future()
    };
    for (amount, gate) in [("100.01", Gate::Approval), ("10.01", Gate::CheckIn)] {
        let settled = settle(amount).await;
        let Outcome::Suspended(suspension) = &settled.outcome else {
            panic!("{amount}: {}", settled.outcome.as_str())
        };
        assert_eq!(suspension.gate, gate, "{amount}");
        let shown = suspension.component.as_ref();
        assert_eq!(shown.is_some(), gate == Gate::CheckIn, "{amount}");
    }
    assert_eq!(settle("10.00").await.text(), "20.00");
}

#[test]
fn a_predicate_that_passes_the_codec_by_is_refused_at_definition() {
    let by_serde = NeedsApproval::when(|_: (String, String), _: CallFacts| async { Ok(false) });
    let plain = NeedsApproval::when(|_: Value, _: CallFacts| async { Ok(false) });
    let problems = |tool: TypedTool<Paid, Total, Money, Money>| {
        let problems = Tool::from(tool).problems();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let why = "reads the arguments by serde, and the tool has a codec of its own";
    let both = problems(
        pay()
            .needs_approval(by_serde.clone())
            .check_in(CheckIn::when(|_: u8| Ok(false))),
    );
    assert!(
        both[0].contains(&format!("needs_approval {why}")),
        "{both:?}"
    );
    assert!(both[0].contains("use needs_approval_when"), "{both:?}");
    assert!(both[1].contains(&format!("check_in {why}")), "{both:?}");
    let refused = open()
        .build()
        .register([("pay", pay().needs_approval(by_serde.clone()))]);
    assert!(refused.is_err());
    // Replaced, taken as they are, or on a tool that goes by serde itself, nothing is wrong.
    let replaced = pay().needs_approval(by_serde.clone()).needs_approval(plain);
    let replaced = replaced.check_in(CheckIn::when(|_: Value| Ok(false)));
    assert_eq!(problems(replaced), [""; 0]);
    let echo = crate::tools::echo().needs_approval(by_serde);
    assert_eq!(Tool::from(echo).problems().len(), 0);
}

/// Hands out early totals in both ways, and one that is no total.
fn early() -> TypedTool<Paid, Total, Money, Money> {
    Tool::with_codecs("Pays", Money, Money, |paid: Paid, cx: Context| async move {
        cx.preliminary_output(&Total(paid.cents)).await?;
        let unlucky = cx.preliminary_output(&Total(13)).await;
        assert!(matches!(unlucky, Err(PreliminaryError::Encode(_))));
        let foreign = cx.preliminary(&"2.50").await;
        assert!(matches!(foreign, Err(PreliminaryError::Type)));
        assert!(matches!(
            cx.preliminary_output(&Paid { cents: 1 }).await,
            Err(PreliminaryError::Type)
        ));
        Ok::<_, HandlerError>(Total(2 * paid.cents))
    })
}

async fn events(tool: impl Into<Tool>, arguments: Value) -> Vec<String> {
    let settling = registered(tool)
        .snapshot()
        .settle(Call::new("pay", arguments), &Facts::new());
    let word = |event| match event {
        SettlementEvent::Preliminary(value) => format!("early {value}"),
        SettlementEvent::Settled(settled) => settled.text(),
        _ => "other".to_owned(),
    };
    settling.stream().map(word).collect().await
}

#[tokio::test]
async fn preliminary_results_are_encoded_by_the_codec_of_the_tool() {
    let seen = events(early(), json!({"amount": "1.25"})).await;
    assert_eq!(seen, [r#"early "1.25""#, "2.50"]);
    // A type that serde knows as well is the codec's all the same.
    let shout = Tool::with_codecs("x", Money, Loud, |_: Paid, cx: Context| async move {
        cx.preliminary(&"soon".to_owned()).await?;
        Ok("now".to_owned())
    });
    let seen = events(shout, json!({"amount": "1.25"})).await;
    assert_eq!(seen, [r#"early "SOON""#, "NOW"]);
}

/// Writes a text, which serde could write too, in its own way.
struct Loud;

impl Encoder<String> for Loud {
    fn schema(&self) -> Option<Value> {
        None
    }

    fn encode(&self, text: &String) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(json!(text.to_uppercase()))
    }
}

#[tokio::test]
async fn a_handle_writes_and_reads_by_the_codecs_of_the_tool() {
    let (kit, pay) = Toolkit::new().with_handle("pay", pay()).unwrap();
    let registry = open().build();
    registry.register(kit).unwrap().keep();
    let (snapshot, facts) = (registry.snapshot(), Facts::new());
    let total = pay.call(&snapshot, &Paid { cents: 125 }, &facts).await;
    assert_eq!(total.unwrap(), Total(250));
    let unwritten = pay.call(&snapshot, &Paid { cents: 13 }, &facts).await;
    assert!(matches!(unwritten, Err(HandleError::Encode(_))));
    let unread = pay.call(&snapshot, &Paid { cents: 0 }, &facts).await;
    assert!(matches!(unread, Err(HandleError::Decode(_))));
}
