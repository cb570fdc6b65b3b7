//! Law 2: the executor sees decoded input, projection sees encoded output.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use tool_core::{Content, Context, Tool};

use crate::tools::{Empty, invalid, output, run, settle};

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
    assert_eq!(settled.structured(), Some(&json!({"total": "25.00"})));
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
    assert_eq!(settled.output(), Some(&json!([1, 2, 3])));
    assert_eq!(settled.structured(), Some(&json!(3)));
    let tool = Tool::from(tool);
    assert_eq!(
        tool.advertised_output().unwrap().as_value()["type"],
        "integer"
    );
    assert_eq!(tool.output().unwrap().as_value()["type"], "array");
}

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
