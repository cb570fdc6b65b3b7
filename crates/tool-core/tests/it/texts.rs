//! What models and operators read.

use std::error::Error;
use std::time::Duration;

use tool_core::{
    Call, Credential, Defect, DefectKind, Denial, HookError, InvalidArguments, Issue, Outcome,
    Refusal, RefusalKind, Settlement, StoreError, StoreErrorKind, ToolFailure,
};

fn outcomes() -> Vec<(Outcome, &'static str)> {
    vec![
        (Outcome::Completed, "completed"),
        (Outcome::Failed(ToolFailure::new("why")), "failed"),
        (
            Outcome::Refused(Refusal::Declined { note: None }),
            "refused",
        ),
        (Outcome::Cancelled, "cancelled"),
        (
            Outcome::TimedOut {
                after: Duration::from_millis(500),
            },
            "timed_out",
        ),
        (Outcome::Defect(Defect::new(DefectKind::Panic)), "defect"),
        (
            Outcome::NotDispatched { stopped_by: None },
            "not_dispatched",
        ),
        (
            Outcome::NotDispatched {
                stopped_by: Some("c0".into()),
            },
            "not_dispatched",
        ),
    ]
}

#[test]
fn every_outcome_but_completion_is_an_error_with_a_text_for_the_model() {
    for (outcome, word) in outcomes() {
        let settlement = Settlement::without_output(Some("c1".into()), "tool", outcome);
        assert_eq!(settlement.outcome.as_str(), word);
        assert_eq!(settlement.is_error(), word != "completed");
        assert_eq!(
            settlement.is_error(),
            !settlement.text().is_empty(),
            "{word}"
        );
        assert_eq!((settlement.output(), settlement.structured()), (None, None));
    }
}

#[test]
fn a_defect_shows_the_model_one_text_whatever_its_kind() {
    for kind in [
        DefectKind::Panic,
        DefectKind::Handler,
        DefectKind::Output,
        DefectKind::Projection,
        DefectKind::Retention,
        DefectKind::Hook,
        DefectKind::Unasserted,
    ] {
        let defect = Defect::because(kind, "canary");
        assert!(!defect.to_string().contains("canary"));
        assert_eq!(defect.source().unwrap().to_string(), "canary");
        let settlement = Settlement::without_output(None, "tool", Outcome::Defect(defect));
        assert_eq!(settlement.text(), Defect::MODEL_TEXT);
    }
}

fn refusals() -> Vec<Refusal> {
    vec![
        Refusal::Unknown {
            name: "grpe".to_owned(),
            nearest: vec!["grep".to_owned(), "tree".to_owned()],
        },
        Refusal::Unknown {
            name: "zzz".to_owned(),
            nearest: vec![],
        },
        Refusal::Unavailable {
            name: "grep".to_owned(),
        },
        Refusal::InvalidArguments(InvalidArguments::new([Issue::NotObject { got: "array" }])),
        Refusal::Denied(Denial::new("write", "policy.toml:3")),
        Refusal::Denied(Denial::new("write", "policy.toml:3").reason(Some("frozen".into()))),
        Refusal::Declined { note: None },
        Refusal::Declined {
            note: Some("later".to_owned()),
        },
        Refusal::Artifact {
            issues: vec!["ref is gone".to_owned(), "map is gone".to_owned()],
            operator: Some("store at /srv".to_owned()),
        },
        Refusal::Credential {
            service: "mail".to_owned(),
            operator: "vault at /srv".to_owned(),
        },
        Refusal::Ceiling {
            chars: 12,
            max_chars: 10,
            narrow_by: vec![],
        },
        Refusal::Door {
            declaration: "wants",
        },
        Refusal::Request {
            because: "an id is taken".to_owned(),
        },
    ]
}

#[test]
fn a_refusal_has_one_text_for_the_model_and_one_for_the_operator() {
    let texts: Vec<_> = refusals()
        .iter()
        .map(|refusal| format!("{}: {refusal} | {}", refusal.kind(), refusal.operator()))
        .collect();
    let expected = [
        "unknown: there is no tool \"grpe\"; did you mean grep or tree? | there is no tool \"grpe\"; did you mean grep or tree?",
        "unknown: there is no tool \"zzz\" | there is no tool \"zzz\"",
        "unavailable: tool \"grep\" is not available in this request | tool \"grep\" is not available in this request",
        "invalid_arguments: expected an object with the arguments, got array | expected an object with the arguments, got array",
        "denied: permission for write was denied; calling again will not change that | write denied: policy.toml:3",
        "denied: permission for write was denied: frozen | write denied: policy.toml:3",
        "declined: the user declined this call | the user declined this call",
        "declined: the user declined: later | the user declined: later",
        "artifact: ref is gone; map is gone | ref is gone; map is gone: store at /srv",
        "credential: access to mail could not be obtained; continue without it | credential for mail: vault at /srv",
        "ceiling: the result has 12 characters and the most is 10; no data was returned; ask for less | the result has 12 characters and the most is 10; no data was returned; ask for less",
        "door: this tool declares wants, which cannot be honoured here | this tool declares wants, which cannot be honoured here",
        "request: the request was turned away: an id is taken | the request was turned away: an id is taken",
    ];
    assert_eq!(texts, expected);
    assert_eq!(RefusalKind::Ceiling.as_str(), "ceiling");
}

#[test]
fn what_comes_from_outside_is_escaped_and_cut_in_every_refusal() {
    let hostile = format!("\u{1b}[2J\u{202e}\n{}", "n".repeat(10_000));
    let path = format!("/{hostile}");
    let issue = |issue| Refusal::InvalidArguments(InvalidArguments::new([issue]));
    for refusal in [
        Refusal::Unknown {
            name: hostile.clone(),
            nearest: vec![],
        },
        Refusal::Unavailable {
            name: hostile.clone(),
        },
        Refusal::Denied(Denial::new(hostile.clone(), "rule")),
        issue(Issue::DuplicateKey {
            path: path.clone(),
            key: hostile.clone(),
        }),
        issue(Issue::UnknownKey {
            path: path.clone(),
            key: hostile.clone(),
            nearest: None,
        }),
        issue(Issue::Missing {
            path: path.clone(),
            key: "k".to_owned(),
        }),
        issue(Issue::Type {
            path: path.clone(),
            expected: "string".to_owned(),
            got: "null",
        }),
        issue(Issue::Constraint {
            path,
            rule: "expected no value".to_owned(),
        }),
    ] {
        for text in [refusal.to_string(), refusal.operator()] {
            assert!(!text.chars().any(char::is_control), "{text}");
            assert!(!text.contains('\u{202e}'), "{text}");
            assert!(text.len() < 1_000, "{} bytes", text.len());
            assert!(text.contains('…'));
        }
    }
}

#[test]
fn at_most_ten_issues_are_kept_and_the_rest_is_counted() {
    let issues = |count: usize| {
        InvalidArguments::new((0..count).map(|n| Issue::DuplicateKey {
            path: String::new(),
            key: format!("k{n}"),
        }))
    };
    assert_eq!(issues(10).issues().len(), 10);
    assert!(!issues(10).to_string().contains("more"));
    assert_eq!(issues(13).issues().len(), 10);
    assert!(
        issues(13)
            .to_string()
            .ends_with("\"k9\" stands twice; and 3 more")
    );
}

#[test]
fn no_secret_and_no_argument_is_printed() {
    let call = Call::new("tool", r#"{"key":"canary"}"#);
    assert!(!format!("{call:?}").contains("canary"));
    let call = Call::new("tool", serde_json::json!({"key": "canary"}));
    assert!(!format!("{call:?}").contains("canary"));
    assert!(!format!("{:?}", Credential::new("canary")).contains("canary"));
}

#[test]
fn a_broken_hook_has_no_text_for_the_model_and_a_rejecting_one_has() {
    assert_eq!(HookError::broken("disk").model(), None);
    assert_eq!(HookError::rejected("no").model(), Some("no"));
    assert!(HookError::rejected("no").to_string().contains("rejected"));
}

#[test]
fn an_error_never_repeats_its_cause() {
    let store = StoreError::new(StoreErrorKind::Io, "could not write").because("EIO");
    assert_eq!(store.to_string(), "could not write");
    assert_eq!(store.source().unwrap().to_string(), "EIO");
    assert_eq!(store.kind(), StoreErrorKind::Io);
    let policy = tool_core::PolicyError::new("EIO");
    assert!(!policy.to_string().contains("EIO"));
    let approver = tool_core::ApproverError::new("EIO");
    assert!(!approver.to_string().contains("EIO"));
    let artifact = tool_core::ArtifactError::new("EIO");
    assert!(!artifact.to_string().contains("EIO"));
}

#[test]
fn an_allowed_value_as_long_as_a_book_is_cut_where_it_is_read() {
    let long = format!("\"{}\"", "ä".repeat(100_000));
    let issue = Issue::NotAllowed {
        path: "/mode".to_owned(),
        allowed: vec!["\"fast\"".to_owned(), long.clone()],
        nearest: Some(long),
    };
    let text = issue.to_string();
    assert!(text.starts_with("expected one of \"fast\", \"ää"), "{text}");
    assert!(
        text.chars().count() < 500 && text.ends_with("…?)"),
        "{text}"
    );
}
