//! What a turn gives out, fed back in: arguments stay encoded, results survive JSON.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tool_core::{
    Call, Context, Defect, DefectKind, Denial, Facts, InvalidArguments, Issue, Outcome, Refusal,
    ResumeFault, Settlement, Tool, ToolFailure,
};
use tool_registry::{AssistantPart, FinishReason, Part, ResultPart};

use crate::ports::open;
use crate::tools::output;

/// A number that is written as text.
#[derive(Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
struct Number(u32);

impl TryFrom<String> for Number {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Number> for String {
    fn from(number: Number) -> Self {
        number.0.to_string()
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Increase {
    number: Number,
}

#[tokio::test]
async fn the_part_of_a_call_shows_what_was_encoded_and_the_result_is_of_what_was_decoded() {
    let tool = Tool::new("Adds one", |input: Increase, _: Context| async move {
        Ok(Number(input.number.0 + 1))
    });
    let registry = open().build();
    registry.register([("increase", tool)]).unwrap().keep();
    for arguments in [json!({"number": "41"}), json!(r#"{"number":"41"}"#)] {
        let delivered = match &arguments {
            Value::String(text) => tool_core::Arguments::Text(text.clone()),
            value => tool_core::Arguments::Value(value.clone()),
        };
        let parts = [
            Part::Call(Call::new("increase", delivered).id("c1")),
            Part::Finish(FinishReason::ToolCalls),
        ];
        let response = stream::iter(parts.map(Ok::<_, std::io::Error>));
        let mut turn = registry.snapshot().turn(&Facts::new()).run(response);
        while turn.next().await.is_some() {}
        let history = turn.into_history();
        assert_eq!(history.results()[0].structured, Some(json!("42")));
        let AssistantPart::Call {
            name,
            arguments: shown,
            ..
        } = &history.assistant()[0]
        else {
            panic!("expected a call")
        };
        assert_eq!(*shown, arguments);
        // A host that runs its calls itself feeds exactly this back.
        let again = match shown {
            Value::String(text) => Call::new(name, text.as_str()),
            value => Call::new(name, value.clone()),
        };
        let settled = registry.snapshot().settle(again, &Facts::new()).await;
        assert_eq!(output(&settled), &json!("42"));
    }
}

#[test]
fn a_result_of_every_kind_survives_json_unchanged() {
    let issue = Issue::Missing {
        path: String::new(),
        key: "a".to_owned(),
    };
    let refused = |refusal| Outcome::Refused(refusal);
    let outcomes = [
        Outcome::Completed,
        Outcome::Failed(ToolFailure::new("no")),
        Outcome::Cancelled,
        Outcome::TimedOut {
            after: Duration::from_millis(1_500),
        },
        Outcome::NotDispatched {
            stopped_by: Some("c0".into()),
        },
        Outcome::Defect(Defect::because(DefectKind::Output, "canary")),
        refused(Refusal::Unknown {
            name: "x".to_owned(),
            nearest: vec!["y".to_owned()],
        }),
        refused(Refusal::InvalidArguments(InvalidArguments::new([issue]))),
        refused(Refusal::Denied(Denial::new("x", "canary"))),
        refused(Refusal::Declined { note: None }),
        refused(Refusal::Resume {
            fault: ResumeFault::Used,
        }),
    ];
    for outcome in outcomes {
        let settled = Settlement::without_output(Some("c1".into()), "tool", outcome);
        let part = ResultPart::from(&settled);
        let json = serde_json::to_string(&part).unwrap();
        assert!(!json.contains("canary"), "{json}");
        assert_eq!(serde_json::from_str::<ResultPart>(&json).unwrap(), part);
        assert_eq!(part.kind.as_deref(), settled.outcome.kind());
        assert_eq!(part.is_retryable, settled.outcome.is_retryable());
        assert_eq!(part.is_error, settled.is_error());
    }
    // One that was kept before kinds were told is read as well.
    let old = json!({
        "id": "c1", "name": "tool", "outcome": "failed", "is_error": true, "content": []
    });
    assert_eq!(
        serde_json::from_value::<ResultPart>(old).unwrap().kind,
        None
    );
}
