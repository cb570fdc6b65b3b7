//! The one conversion of errors, which knows its own types.

use std::error::Error;

use tool_core::{Denial, HandlerError, HandlerErrorKind, Refusal, ToolFailure};

fn through<E: Error + Send + Sync + 'static>(error: E) -> HandlerErrorKind {
    fn inner<E: Error + Send + Sync + 'static>(error: E) -> Result<(), HandlerError> {
        Err(error)?;
        Ok(())
    }
    inner(error).unwrap_err().into_kind()
}

#[test]
fn an_ordinary_error_becomes_a_defect_with_its_causes() {
    let HandlerErrorKind::Defect(cause) = through(std::io::Error::other("disk")) else {
        panic!("expected a defect");
    };
    assert_eq!(cause.to_string(), "disk");
    assert!(cause.downcast_ref::<std::io::Error>().is_some());
}

#[test]
fn a_failure_stays_a_failure_and_a_refusal_that_refusal() {
    let HandlerErrorKind::Failure(failure) = through(ToolFailure::new("no such file")) else {
        panic!("expected a failure");
    };
    assert_eq!(failure.message(), "no such file");
    let denied = Refusal::Denied(Denial::new("write", "rule 1"));
    let HandlerErrorKind::Refused(refusal) = through(denied.clone()) else {
        panic!("expected a refusal");
    };
    assert_eq!(refusal, denied);
}

#[test]
fn a_boxed_error_is_sorted_by_what_is_in_the_box() {
    let boxed = |error: Box<dyn Error + Send + Sync>| HandlerError::defect(error).into_kind();
    let failure: Box<dyn Error + Send + Sync> = Box::new(ToolFailure::new("known"));
    assert!(matches!(boxed(failure), HandlerErrorKind::Failure(_)));
    assert!(matches!(boxed("text".into()), HandlerErrorKind::Defect(_)));
}

#[test]
fn an_error_around_a_failure_is_no_failure() {
    let around = std::io::Error::other(ToolFailure::new("inner"));
    assert!(matches!(through(around), HandlerErrorKind::Defect(_)));
}

#[test]
fn a_failure_has_its_cause_for_the_operator_and_not_in_its_text() {
    let failure = ToolFailure::new("could not read").because(std::io::Error::other("EIO"));
    assert_eq!(failure.to_string(), "could not read");
    assert_eq!(failure.source().unwrap().to_string(), "EIO");
}

#[test]
fn what_a_failure_shows_is_never_empty() {
    let shown = |mut failure: ToolFailure| {
        let content = failure.take_content();
        content
            .iter()
            .map(|block| block.as_text().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let failure = || ToolFailure::new("why");
    assert_eq!(shown(failure()), ["why"]);
    assert_eq!(shown(failure().content([])), ["why"]);
    let blocks = ["a", "b"].map(tool_core::Content::text);
    assert_eq!(shown(failure().content(blocks)), ["a", "b"]);
}
