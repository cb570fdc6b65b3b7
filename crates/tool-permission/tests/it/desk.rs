use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tool_core::{
    Action, Answer, Approver, Ask, Decision, Facts, Permission, Refusal, Request, Resource, Ruling,
};
use tool_permission::{
    Desk, Ending, Notice, Notices, Question, QuestionId, Reply, Rule, RulePolicy,
};

use crate::policy;

/// A policy, its desk, and who listens from the start.
struct Office {
    permission: Permission,
    policy: Arc<RulePolicy>,
    desk: Desk,
    notices: Notices,
}

impl Office {
    fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::with(rules, Desk::new)
    }

    fn with(
        rules: impl IntoIterator<Item = Rule>,
        desk: impl FnOnce(Arc<RulePolicy>) -> Desk,
    ) -> Self {
        let policy = Arc::new(policy(rules));
        let desk = desk(Arc::clone(&policy));
        Self {
            permission: Permission::new(Arc::clone(&policy), desk.clone()),
            policy,
            notices: desk.notices(),
            desk,
        }
    }

    /// Starts a request, and waits until it is on the list.
    async fn ask(&mut self, session: &str, action: &str, name: &str, save: &[&str]) -> Asked {
        let permission = self.permission.clone();
        let facts = Facts::new().session(session);
        let (action, name) = (action.to_owned(), name.to_owned());
        let save: Vec<String> = save.iter().map(ToString::to_string).collect();
        let task = tokio::spawn(async move {
            let resources = [Resource::from(name)];
            let mut request = Request::new(Action::new(action), resources, &facts);
            request.save = &save;
            let ruling = permission.decide(&request).await;
            permission.enforce(&request, &ruling).await
        });
        match self.notices.next().await {
            Some(Notice::Asked(question)) => Asked { question, task },
            other => panic!("{other:?}"),
        }
    }

    /// The next notice, which must be an end.
    async fn ended(&mut self) -> (QuestionId, Ending) {
        match self.notices.next().await {
            Some(Notice::Ended { question, ending }) => (question.id, ending),
            other => panic!("{other:?}"),
        }
    }

    fn decision(&self, action: &str, name: &str) -> Decision {
        crate::decision(&self.policy, action, [name])
    }
}

struct Asked {
    question: Arc<Question>,
    task: JoinHandle<Result<(), Refusal>>,
}

fn approved() -> Ending {
    Ending::Answered(Answer::Approved)
}

#[tokio::test]
async fn a_question_is_listed_for_its_session_only() {
    let mut office = Office::new([]);
    let a = office.ask("a", "fetch", "x", &[]).await;
    let b = office.ask("b", "fetch", "y", &[]).await;
    let session = |name: &str| office.desk.of_session(Some(&name.into()));
    assert_eq!(session("a"), [Arc::clone(&a.question)]);
    assert_eq!(session("b"), [Arc::clone(&b.question)]);
    assert!(session("c").is_empty());
    assert!(office.desk.of_session(None).is_empty());
    assert_eq!(office.desk.all(), [a.question, b.question]);
}

#[tokio::test]
async fn once_answers_this_question_and_no_later_one() {
    let mut office = Office::new([]);
    let asked = office.ask("a", "fetch", "x", &["*"]).await;
    office
        .desk
        .answer(asked.question.id, Reply::Once)
        .await
        .unwrap();
    assert_eq!(asked.task.await.unwrap(), Ok(()));
    assert_eq!(office.ended().await, (asked.question.id, approved()));
    assert!(office.desk.all().is_empty());
    assert_eq!(office.decision("fetch", "x"), Decision::Ask);
}

#[tokio::test]
async fn a_rejection_is_a_decline_with_its_note() {
    let mut office = Office::new([]);
    for note in [None, Some("use the cache".to_owned())] {
        let asked = office.ask("a", "fetch", "x", &[]).await;
        let reject = Reply::Reject { note: note.clone() };
        office.desk.answer(asked.question.id, reject).await.unwrap();
        let refusal = asked.task.await.unwrap().unwrap_err();
        assert_eq!(refusal, Refusal::Declined { note: note.clone() });
        let declined = Ending::Answered(Answer::Declined { note });
        assert_eq!(office.ended().await, (asked.question.id, declined));
    }
}

#[tokio::test]
async fn a_rejection_leaves_other_questions_alone() {
    let mut office = Office::new([]);
    let first = office.ask("a", "fetch", "x", &[]).await;
    let second = office.ask("a", "fetch", "y", &[]).await;
    let reject = Reply::Reject { note: None };
    office.desk.answer(first.question.id, reject).await.unwrap();
    assert_eq!(office.desk.all(), [second.question]);
}

#[tokio::test]
async fn always_stores_exactly_the_shown_patterns() {
    let mut office = Office::new([Rule::deny("fetch", "docs/secret")]);
    let asked = office.ask("a", "fetch", "docs/a", &["docs/*", "faq"]).await;
    assert_eq!(asked.question.save, ["docs/*", "faq"]);
    office
        .desk
        .answer(asked.question.id, Reply::Always)
        .await
        .unwrap();
    assert_eq!(asked.task.await.unwrap(), Ok(()));

    assert_eq!(office.decision("fetch", "docs/b"), Decision::Allow);
    assert_eq!(office.decision("fetch", "faq"), Decision::Allow);
    assert_eq!(office.decision("fetch", "other"), Decision::Ask);
    assert_eq!(office.decision("send", "docs/b"), Decision::Ask);
    // No approval undoes a deny.
    assert_eq!(office.decision("fetch", "docs/secret"), Decision::Deny);
}

#[tokio::test]
async fn always_without_a_pattern_is_once() {
    let mut office = Office::new([]);
    let asked = office.ask("a", "fetch", "x", &[]).await;
    office
        .desk
        .answer(asked.question.id, Reply::Always)
        .await
        .unwrap();
    assert_eq!(asked.task.await.unwrap(), Ok(()));
    assert_eq!(office.decision("fetch", "x"), Decision::Ask);
}

#[tokio::test]
async fn always_releases_what_the_rules_now_allow_and_nothing_else() {
    let mut office = Office::new([]);
    let asked = office.ask("a", "fetch", "docs/a", &["docs/*"]).await;
    let same = office.ask("b", "fetch", "docs/b", &[]).await;
    let other = office.ask("a", "fetch", "faq", &[]).await;
    let action = office.ask("a", "send", "docs/b", &[]).await;

    office
        .desk
        .answer(asked.question.id, Reply::Always)
        .await
        .unwrap();
    assert_eq!(office.ended().await, (asked.question.id, approved()));
    assert_eq!(office.ended().await, (same.question.id, approved()));
    assert_eq!(same.task.await.unwrap(), Ok(()));
    assert_eq!(office.desk.all(), [other.question, action.question]);
}

#[tokio::test]
async fn a_question_that_policy_did_not_put_is_not_released_by_a_rule() {
    let mut office = Office::new([Rule::allow("call", "transfer")]);
    let (facts, desk) = (Facts::new(), office.desk.clone());
    let own = tokio::spawn(async move {
        let request = Request::new(Action::CALL, [Resource::from("transfer")], &facts);
        let ruling = Ruling::new(Decision::Ask, "the tool needs approval");
        desk.ask(Ask::new(&request, &ruling)).await
    });
    let Some(Notice::Asked(question)) = office.notices.next().await else {
        panic!("not asked");
    };
    let asked = office.ask("a", "fetch", "x", &["*"]).await;
    office
        .desk
        .answer(asked.question.id, Reply::Always)
        .await
        .unwrap();
    assert_eq!(office.desk.all(), [Arc::clone(&question)]);
    let answered = office.desk.answer_as(question.id, Reply::Once, "ada").await;
    answered.unwrap();
    assert_eq!(own.await.unwrap().unwrap(), Answer::Approved.by("ada"));
}

#[tokio::test]
async fn a_saved_approval_answers_an_ask_rule_unless_it_is_sticky() {
    let rules = [Rule::ask("fetch", "*"), Rule::ask("send", "*").sticky()];
    let mut office = Office::new(rules);
    for action in ["fetch", "send"] {
        let asked = office.ask("a", action, "x", &["x"]).await;
        office
            .desk
            .answer(asked.question.id, Reply::Always)
            .await
            .unwrap();
        office.ended().await;
    }
    assert_eq!(office.decision("fetch", "x"), Decision::Allow);
    assert_eq!(office.decision("fetch", "y"), Decision::Ask);
    assert_eq!(office.decision("send", "x"), Decision::Ask);
}

#[tokio::test]
async fn an_unknown_or_answered_question_is_not_found() {
    let mut office = Office::new([]);
    let unknown: QuestionId = "ask_99".parse().unwrap();
    let error = office
        .desk
        .answer(unknown, Reply::Always)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "question ask_99 is not waiting for an answer"
    );

    let asked = office.ask("a", "fetch", "x", &["*"]).await;
    office
        .desk
        .answer(asked.question.id, Reply::Once)
        .await
        .unwrap();
    office
        .desk
        .answer(asked.question.id, Reply::Always)
        .await
        .unwrap_err();
    // A late "always" saves nothing.
    assert_eq!(office.decision("fetch", "x"), Decision::Ask);
}

#[tokio::test]
async fn dropping_the_asker_withdraws_the_question() {
    let mut office = Office::new([]);
    let asked = office.ask("a", "fetch", "x", &["*"]).await;
    asked.task.abort();
    assert_eq!(office.ended().await, (asked.question.id, Ending::Withdrawn));
    assert!(office.desk.all().is_empty());
    let late = office.desk.answer(asked.question.id, Reply::Always).await;
    assert!(late.is_err());
    assert_eq!(office.decision("fetch", "x"), Decision::Ask);
}

#[tokio::test(start_paused = true)]
async fn a_question_expires_at_its_deadline_and_is_denied() {
    let minute = Duration::from_secs(60);
    let mut office = Office::with([], |policy| Desk::with_deadline(policy, minute));
    let asked = office.ask("a", "fetch", "x", &[]).await;
    tokio::time::advance(minute - Duration::from_millis(1)).await;
    assert_eq!(office.desk.all().len(), 1);
    assert_eq!(office.ended().await, (asked.question.id, Ending::Expired));
    let refusal = asked.task.await.unwrap().unwrap_err();
    assert!(matches!(refusal, Refusal::Denied(_)), "{refusal:?}");
    office
        .desk
        .answer(asked.question.id, Reply::Once)
        .await
        .unwrap_err();
}

#[tokio::test]
async fn denied_and_allowed_requests_are_never_queued() {
    let mut office = Office::new([Rule::deny("fetch", "bad"), Rule::allow("fetch", "good")]);
    let cx = tool_core::Context::detached();
    let refusal = office
        .permission
        .assert(&cx, "fetch", ["unknown", "bad"])
        .await;
    assert!(matches!(refusal, Err(Refusal::Denied(_))));
    office
        .permission
        .assert(&cx, "fetch", ["good"])
        .await
        .unwrap();
    // The next notice is that of the next question.
    office.ask("a", "fetch", "unknown", &[]).await;
}

#[tokio::test]
async fn a_listener_that_is_too_slow_learns_how_much_it_missed() {
    let mut office = Office::new([]);
    let mut slow = office.desk.notices();
    for _ in 0..Desk::NOTICES {
        let asked = office.ask("a", "fetch", "x", &[]).await;
        office
            .desk
            .answer(asked.question.id, Reply::Once)
            .await
            .unwrap();
        office.ended().await;
    }
    assert_eq!(
        slow.next().await,
        Some(Notice::Missed(Desk::NOTICES as u64))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_questions_at_once_each_ends_exactly_once() {
    const MANY: usize = 200;
    let mut office = Office::new([]);
    let mut asked = Vec::new();
    for at in 0..MANY {
        asked.push(office.ask("a", "fetch", &format!("page{at}"), &[]).await);
    }
    // Answered backwards, while every third asker goes away.
    let mut ids = Vec::new();
    for (at, Asked { question, task }) in asked.into_iter().enumerate().rev() {
        if at % 3 == 0 {
            task.abort();
        }
        let note = Some(question.resources[0].to_string());
        let _ = office
            .desk
            .answer(question.id, Reply::Reject { note })
            .await;
        if at % 3 != 0 {
            let declined = task.await.unwrap().unwrap_err();
            // The answer reached its own question.
            let note = Some(format!("page{at}"));
            assert_eq!(declined, Refusal::Declined { note });
        }
        ids.push(question.id);
    }
    let mut ends = HashMap::new();
    for _ in 0..MANY {
        let (id, _) = office.ended().await;
        *ends.entry(id).or_insert(0) += 1;
    }
    assert!(ids.iter().all(|id| ends[id] == 1));
    assert!(office.desk.all().is_empty());
}

#[test]
fn printing_a_question_shows_no_resource() {
    let shown = format!("{:?}", Desk::new(Arc::new(policy([]))));
    assert!(shown.contains("waiting: 0"));
}
