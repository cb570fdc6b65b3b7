//! A tool over Rust types: what the model is told of it, what it is refused, and what it reads.
//!
//! ```text
//! cargo run -p examples --example typed
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::collections::BTreeMap;
use std::error::Error;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::core::{Call, Facts, NeedsApproval, Outcome, TypedTool};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Content, Context, HandlerError, Runtime, Tool, ToolFailure};

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    /// Weight in grams.
    #[schemars(range(min = 1, max = 31_500))]
    grams: u32,
    /// Where it goes.
    zone: Zone,
    /// Insured up to this many euros; not insured when absent.
    insured: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Zone {
    Domestic,
    Abroad,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Price {
    cents: u32,
    days: u32,
}

/// The tool captures what it works with; here, the price of a kilogram in cents.
fn quote(prices: BTreeMap<Zone, u32>) -> TypedTool<Parcel, Price> {
    Tool::new(
        "Quote the price of a parcel",
        move |parcel: Parcel, _cx: Context| {
            let per_kilogram = prices.get(&parcel.zone).copied();
            async move {
                if parcel.zone == Zone::Abroad && parcel.grams > 20_000 {
                    // A failure that the model reads and can do something about.
                    return Err(
                        ToolFailure::new("over 20 kg nothing is sent abroad; send two").into(),
                    );
                }
                // An error that is no `ToolFailure` is a defect, and the model reads nothing of it.
                let per_kilogram =
                    per_kilogram.ok_or_else(|| HandlerError::defect("no price for the zone"))?;
                let kilograms = parcel.grams.div_ceil(1_000);
                let insurance = parcel.insured.unwrap_or(0) * 2;
                Ok(Price {
                    cents: kilograms * per_kilogram + insurance,
                    days: if parcel.zone == Zone::Abroad { 5 } else { 2 },
                })
            }
        },
    )
    .title("Quote")
    .read_only()
    // Programs get the price as data, the model reads a sentence.
    .model(|_parcel, price| {
        let Price { cents, days } = price;
        [Content::text(format!(
            "{}.{:02} EUR, {days} days",
            cents / 100,
            cents % 100
        ))]
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let quote = quote(BTreeMap::from([(Zone::Domestic, 450)]));

    // A handler is tried on its own, without validation and policy.
    let parcel = Parcel {
        grams: 900,
        zone: Zone::Domestic,
        insured: None,
    };
    if let Ok(price) = quote.call(parcel, Context::detached()).await {
        println!("alone: {} cents", price.cents);
    }

    // A clone with one part replaced leaves the original as it is.
    let careful = quote.clone().needs_approval(NeedsApproval::ALWAYS);

    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let _registered = runtime.register([("quote", quote), ("careful_quote", careful)])?;

    let request = runtime.snapshot();
    let told = request.get("quote").ok_or("it is registered")?.definition();
    println!("required: {}", told.input.as_value()["required"]);

    let calls = [
        Call::new(
            "quote",
            r#"{"grams": 1200, "zone": "domestic", "insured": 50}"#,
        ),
        Call::new(
            "quote",
            r#"{"grams": 1200, "zone": "domestic", "insurance": 50}"#,
        ),
        Call::new("quote", r#"{"grams": 0, "zone": "moon"}"#),
        Call::new("quote", r#"{"grams": 25000, "zone": "abroad"}"#),
        Call::new("quote", r#"{"grams": 900, "zone": "abroad"}"#),
        Call::new("careful_quote", r#"{"grams": 1200, "zone": "domestic"}"#),
    ];
    for settled in request.settle_all(calls, &Facts::new()).await {
        println!("{}: {}", settled.outcome.as_str(), settled.text());
        if let (Outcome::Completed, Some(output)) = (&settled.outcome, &settled.output) {
            println!("as data: {output}");
        }
    }
    Ok(())
}
