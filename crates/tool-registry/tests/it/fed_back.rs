//! What a turn gives out, fed back in: arguments stay encoded, results survive JSON.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tool_core::{
    Bound, Call, Column, ColumnType, ComponentFault, Context, Defect, DefectKind, Denial, Facts,
    InvalidArguments, Issue, Outcome, Refusal, RefusalKind, ResumeFault, Settlement, Tool,
    ToolFailure, judge_columns,
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
            value => tool_core::Arguments::from(value.clone()),
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

/// A refusal of every kind.
fn refusals() -> Vec<Refusal> {
    RefusalKind::all().map(refusal).collect()
}

fn refusal(kind: RefusalKind) -> Refusal {
    let name = || "x".to_owned();
    let issue = Issue::Missing {
        path: String::new(),
        key: "a".to_owned(),
    };
    let columns = [("n".to_owned(), Column::new(ColumnType::Number))].into();
    let mismatches = judge_columns(&columns, &json!([{"n": "canary"}])).unwrap();
    match kind {
        RefusalKind::Unknown => Refusal::Unknown {
            name: name(),
            nearest: vec!["y".to_owned()],
        },
        RefusalKind::Unavailable => Refusal::Unavailable { name: name() },
        RefusalKind::InvalidArguments => Refusal::InvalidArguments(InvalidArguments::new([issue])),
        RefusalKind::Denied => Refusal::Denied(Denial::new("x", "canary")),
        RefusalKind::Declined => Refusal::Declined { note: None },
        RefusalKind::Stopped => Refusal::Stopped { note: None },
        RefusalKind::Component => Refusal::Component {
            fault: ComponentFault::Unresolved,
            operator: Some("canary".to_owned()),
        },
        RefusalKind::Artifact => Refusal::Artifact {
            issues: vec!["x is missing".to_owned()],
            operator: Some("canary".to_owned()),
        },
        RefusalKind::Credential => Refusal::Credential {
            service: name(),
            operator: "canary".to_owned(),
        },
        RefusalKind::Ceiling => Refusal::Ceiling {
            chars: 2,
            max_chars: 1,
            narrow_by: Vec::new(),
        },
        RefusalKind::TooLong => Refusal::TooLong {
            bytes: 9,
            lines: 2,
            bound: Bound::new(8, 1).unwrap(),
            narrow_by: Vec::new(),
        },
        RefusalKind::Columns => Refusal::Columns { mismatches },
        RefusalKind::Resume => Refusal::Resume {
            fault: ResumeFault::Used,
        },
        RefusalKind::Door => Refusal::Door {
            declaration: "wants",
        },
        RefusalKind::Request => Refusal::Request {
            because: "an id is taken".to_owned(),
        },
        other => panic!("there is no refusal of the kind {other} here"),
    }
}

#[test]
fn a_result_of_every_kind_survives_json_unchanged() {
    let mut outcomes = vec![
        Outcome::Completed,
        Outcome::Failed(ToolFailure::new("no")),
        Outcome::Cancelled,
        Outcome::TimedOut {
            after: Duration::from_millis(1_500),
        },
        Outcome::NotDispatched {
            stopped_by: Some("c0".into()),
        },
    ];
    let defects = [
        DefectKind::Panic,
        DefectKind::Handler,
        DefectKind::Output,
        DefectKind::Projection,
        DefectKind::Retention,
        DefectKind::Hook,
        DefectKind::Unasserted,
    ];
    outcomes.extend(defects.map(|kind| Outcome::Defect(Defect::because(kind, "canary"))));
    outcomes.extend(refusals().into_iter().map(Outcome::Refused));
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
