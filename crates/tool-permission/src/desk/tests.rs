use std::sync::Arc;

use tool_core::{Action, Answer, Ask, Decision, Facts, Request, Resource, Ruling};

use super::Desk;
use crate::{Ending, Notice, RulePolicy};

/// Between the end of a waiting future and its telling the desk, another thread may answer.
#[tokio::test]
async fn an_answer_that_nobody_can_read_any_more_is_told_as_late() {
    let desk = Desk::new(Arc::new(RulePolicy::new([])));
    let mut notices = desk.notices();
    let (facts, ruling) = (Facts::new(), Ruling::new(Decision::Ask, "no rule"));
    let request = Request::new(Action::new("fetch"), [Resource::from("page")], &facts);
    let (id, answered) = desk.0.open(&Ask::new(&request, &ruling)).unwrap();
    drop(answered);
    let late = desk.0.end(id, Ending::Answered(Answer::Approved), "ada");
    assert!(late.is_err());
    assert!(matches!(notices.next().await, Some(Notice::Asked(_))));
    match notices.next().await {
        Some(Notice::Ended { ending, .. }) => assert_eq!(ending, Ending::Withdrawn),
        other => panic!("{other:?}"),
    }
    assert!(desk.all().is_empty());
}
