//! How calls end, as words that stay what they are.

use std::time::Duration;

use serde_json::json;
use tool_core::{
    Bound, Column, ColumnMismatch, ColumnType, ComponentFault, Defect, DefectKind, Denial,
    FailureMode, FailureOrigin, Gate, InvalidArguments, Issue, Outcome, Refusal, RefusalKind,
    ResumeFault, Settlement, Suspension, ToolFailure, judge_columns,
};

fn mismatch() -> ColumnMismatch {
    let columns = [("n".to_owned(), Column::new(ColumnType::Number))].into();
    judge_columns(&columns, &json!([{"n": ""}]))
        .unwrap()
        .remove(0)
}

/// Every refusal there is.
fn refusals() -> Vec<Refusal> {
    RefusalKind::all().map(refusal).collect()
}

fn refusal(kind: RefusalKind) -> Refusal {
    match kind {
        RefusalKind::Unknown => Refusal::Unknown {
            name: "x".to_owned(),
            nearest: Vec::new(),
        },
        RefusalKind::Unavailable => Refusal::Unavailable {
            name: "x".to_owned(),
        },
        RefusalKind::InvalidArguments => {
            Refusal::InvalidArguments(InvalidArguments::new([Issue::NotObject { got: "array" }]))
        }
        RefusalKind::Denied => Refusal::Denied(Denial::new("x", "a rule")),
        RefusalKind::Declined => Refusal::Declined { note: None },
        RefusalKind::Stopped => Refusal::Stopped { note: None },
        RefusalKind::Component => Refusal::Component {
            fault: ComponentFault::Unresolved,
            operator: None,
        },
        RefusalKind::Artifact => Refusal::Artifact {
            issues: vec!["x is missing".to_owned()],
            operator: None,
        },
        RefusalKind::Credential => Refusal::Credential {
            service: "x".to_owned(),
            operator: "an outage".to_owned(),
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
        RefusalKind::Columns => Refusal::Columns {
            mismatches: vec![mismatch()],
        },
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

/// One line for each outcome: its words, where it failed and whether it may be tried again.
fn line(outcome: &Outcome) -> String {
    let origin = outcome.origin().map_or("-", FailureOrigin::as_str);
    let kind = outcome.kind().unwrap_or("-");
    let again = if outcome.is_retryable() { "again" } else { "-" };
    format!("{} {kind} {origin} {again}", outcome.as_str())
}

#[test]
fn the_words_the_origin_and_whether_to_try_again_are_fixed_for_every_end() {
    let waits = Suspension::new("sus_1", Gate::Approval, "x");
    let after = Duration::from_secs(1);
    let mut outcomes = vec![
        Outcome::Completed,
        Outcome::Failed(ToolFailure::new("no")),
        Outcome::Suspended(Box::new(waits)),
        Outcome::Cancelled,
        Outcome::TimedOut { after },
        Outcome::NotDispatched { stopped_by: None },
    ];
    outcomes.extend(refusals().into_iter().map(Outcome::Refused));
    let defects = [
        DefectKind::Panic,
        DefectKind::Handler,
        DefectKind::Output,
        DefectKind::Projection,
        DefectKind::Retention,
        DefectKind::Hook,
        DefectKind::Unasserted,
    ];
    outcomes.extend(defects.map(|kind| Outcome::Defect(Defect::new(kind))));
    let lines: Vec<_> = outcomes.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "completed - - -",
            "failed - handler again",
            "suspended - - -",
            "cancelled - interrupted -",
            "timed_out - interrupted again",
            "not_dispatched - interrupted again",
            "refused unknown validation again",
            "refused unavailable validation -",
            "refused invalid_arguments validation again",
            "refused denied denied -",
            "refused declined denied -",
            "refused stopped denied -",
            "refused component denied again",
            "refused artifact denied again",
            "refused credential denied -",
            "refused ceiling result again",
            "refused too_long result again",
            "refused columns result -",
            "refused resume denied -",
            "refused door denied -",
            "refused request denied -",
            "defect panic handler -",
            "defect handler handler -",
            "defect output result -",
            "defect projection result -",
            "defect retention result -",
            "defect hook result -",
            "defect unasserted handler -",
        ]
    );
}

#[test]
fn what_a_model_reads_of_each_refusal_is_fixed() {
    let texts: Vec<_> = refusals().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "there is no tool \"x\"",
            "tool \"x\" is not available in this request",
            "expected an object with the arguments, got array",
            "permission for x was denied; calling again will not change that",
            "the user declined this call",
            "the user declined this call and stopped",
            "the user could not be asked whether to go on, as the artifact to be shown is not \
             there; the tool did not run",
            "x is missing",
            "access to x could not be obtained; continue without it",
            "the result has 2 characters and the most is 1; no data was returned; ask for less",
            "the result has 9 bytes in 2 lines and the most is 8 bytes in 1 lines; no data was \
             returned; ask for less",
            "the result was withheld, as columns hold something else than declared: n: expected \
             number, got empty string in 1 of 1 rows",
            "the approval cannot be used, as it was decided before; make the call again",
            "this tool declares wants, which cannot be honoured here",
            "the request was turned away: an id is taken",
        ]
    );
}

#[test]
fn under_return_only_what_was_declared_and_what_does_not_fit_are_results() {
    for refusal in refusals() {
        let invalid = matches!(refusal, Refusal::InvalidArguments(_));
        let outcome = Outcome::Refused(refusal);
        let mut settled = Settlement::without_output(None, "x", outcome);
        assert!(settled.clone().into_result().is_err());
        settled.failure_mode = FailureMode::Return;
        assert_eq!(settled.into_result().is_ok(), invalid);
    }
    for outcome in [
        Outcome::Cancelled,
        Outcome::Defect(Defect::new(DefectKind::Panic)),
        Outcome::NotDispatched { stopped_by: None },
    ] {
        let mut settled = Settlement::without_output(None, "x", outcome);
        settled.failure_mode = FailureMode::Return;
        assert!(settled.into_result().is_err());
    }
}
