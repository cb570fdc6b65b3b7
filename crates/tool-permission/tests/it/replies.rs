//! Answers for more than one question, answers that are saved, and requests that queue.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tool_core::{
    Action, Answer, Decision, Digest, Facts, Identity, Namespace, Permission, Policy as _, Refusal,
    Request, Resource, Source, State, ToolName,
};
use tool_permission::{
    AnswerError, Approval, Approvals, Desk, Ending, Notice, Queued, Reply, ReplyScope, Rule,
    RulePolicy, Scope, Ticket,
};
use tool_testkit::state::{Between, Operation};

use crate::approvals::Shared;
use crate::command_grammar::Random;
use crate::policy;

struct Office {
    policy: Arc<RulePolicy>,
    desk: Desk,
}

impl Office {
    fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let policy = Arc::new(policy(rules));
        let desk = Desk::new(Arc::clone(&policy));
        Self { policy, desk }
    }

    async fn queue(&self, facts: &Facts, name: &str) -> Result<Queued, Refusal> {
        let save = [name.to_owned()];
        let mut request = request(facts, name);
        request.save = &save;
        self.desk.queue(&request).await
    }

    async fn waiting(&self, facts: &Facts, name: &str) -> Ticket {
        match self.queue(facts, name).await.unwrap() {
            Queued::Waiting(ticket) => ticket,
            Queued::Allowed => panic!("{name} is allowed"),
        }
    }

    async fn decision(&self, facts: &Facts, name: &str) -> Decision {
        self.policy
            .decide(&request(facts, name))
            .await
            .unwrap()
            .decision
    }
}

fn request<'a>(facts: &'a Facts, name: &str) -> Request<'a> {
    Request::new(Action::new("fetch"), [Resource::from(name)], facts)
}

fn declined(note: Option<&str>) -> Answer {
    Answer::Declined {
        note: note.map(str::to_owned),
    }
}

#[tokio::test]
async fn a_queued_request_does_not_wait_and_its_ticket_does() {
    let office = Office::new([Rule::deny("fetch", "bad"), Rule::allow("fetch", "good")]);
    let facts = Facts::new();
    assert!(matches!(
        office.queue(&facts, "good").await,
        Ok(Queued::Allowed)
    ));
    assert!(matches!(
        office.queue(&facts, "bad").await,
        Err(Refusal::Denied(_))
    ));
    let one = office.waiting(&facts, "one").await;
    let other = office.waiting(&facts, "other").await;
    assert!(one.id() < other.id());
    office.desk.answer(other.id(), Reply::Once).await.unwrap();
    assert_eq!(other.answer().await.unwrap(), Answer::Approved);
    drop(one);
    assert!(
        office.desk.all().is_empty(),
        "dropping the ticket withdraws"
    );
}

#[tokio::test]
async fn rejecting_all_declines_the_session_and_nobody_else() {
    let office = Office::new([]);
    let (a, b) = (Facts::new().session("a"), Facts::new().session("b"));
    let first = office.waiting(&a, "1").await;
    let second = office.waiting(&a, "2").await;
    let stranger = office.waiting(&b, "3").await;
    let mut notices = office.desk.notices();
    let reply = Reply::RejectAll {
        note: Some("not now".to_owned()),
    };
    office.desk.answer(first.id(), reply).await.unwrap();
    assert_eq!(first.answer().await.unwrap(), declined(Some("not now")));
    // The note was for the one that was answered.
    assert_eq!(second.answer().await.unwrap(), declined(None));
    assert_eq!(office.desk.all().len(), 1);
    assert_eq!(office.desk.all()[0].id, stranger.id());
    for _ in 0..2 {
        assert!(matches!(notices.next().await, Some(Notice::Ended { .. })));
    }
    // Later questions are put as ever.
    drop(office.waiting(&a, "4").await);
}

#[tokio::test]
async fn rejecting_and_stopping_declines_what_the_same_message_still_asks() {
    let office = Office::new([]);
    let turn = Facts::new().session("a").message("m1");
    let ticket = office.waiting(&turn, "1").await;
    let mut notices = office.desk.notices();
    let reply = Reply::RejectAndStop { note: None };
    office.desk.answer(ticket.id(), reply).await.unwrap();
    match notices.next().await {
        Some(Notice::Ended { ending, .. }) => assert_eq!(ending, Ending::Stopped { note: None }),
        other => panic!("{other:?}"),
    }
    let stopped = Answer::Stopped { note: None };
    assert_eq!(ticket.answer().await.unwrap(), stopped);
    let late = office.queue(&turn, "2").await;
    assert!(matches!(late, Err(Refusal::Stopped { note: None })));
    let permission = Permission::new(Arc::clone(&office.policy), office.desk.clone());
    let asked = request(&turn, "3");
    let ruling = permission.decide(&asked).await;
    let late = permission.enforce(&asked, &ruling).await;
    assert_eq!(late, Err(Refusal::Stopped { note: None }));
    // The next message is another turn.
    let next = Facts::new().session("a").message("m2");
    drop(office.waiting(&next, "4").await);
}

#[tokio::test]
async fn what_is_saved_is_the_pattern_for_the_scope_that_was_said() {
    let office = Office::new([Rule::deny("fetch", "never")]);
    let facts = Facts::new().session("a").agent("x");
    let scopes = [
        (ReplyScope::Session, Scope::Session("a".into())),
        (ReplyScope::Agent, Scope::Agent("x".into())),
        (ReplyScope::Project, Scope::Project),
    ];
    for (at, (scope, saved)) in scopes.into_iter().enumerate() {
        let name = format!("page{at}");
        let ticket = office.waiting(&facts, &name).await;
        let waiting = office.waiting(&facts, &name).await;
        let lasts = Some(Duration::from_secs(60));
        let reply = Reply::Save { scope, lasts };
        office.desk.answer(ticket.id(), reply).await.unwrap();
        assert_eq!(ticket.answer().await.unwrap(), Answer::Approved);
        // Another that the approval covers is released with it.
        assert_eq!(waiting.answer().await.unwrap(), Answer::Approved);
        let listed = office.policy.saved().list().await.unwrap();
        let approval = listed.iter().find(|one| one.resource == name).unwrap();
        assert_eq!(approval.scope, saved);
        assert_eq!(approval.expires_ms, Some(approval.created_ms + 60_000));
        assert_eq!(office.decision(&facts, &name).await, Decision::Allow);
        let stranger = Facts::new().session("b").agent("y");
        let expected = match scope {
            ReplyScope::Project => Decision::Allow,
            _ => Decision::Ask,
        };
        assert_eq!(office.decision(&stranger, &name).await, expected);
    }
}

#[tokio::test]
async fn what_is_saved_is_for_the_tool_that_asked_as_it_was_then() {
    let office = Office::new([]);
    let (facts, save) = (Facts::new(), ["page".to_owned()]);
    let source = Source::Server(Namespace::new("web").unwrap());
    let tools = ["get", "post"].map(|name| Identity::new(&source, ToolName::new(name).unwrap()));
    let digests = [Digest::of(b"as shown"), Digest::of(b"changed")];
    let asked = |tool: usize, digest: usize| {
        let mut request = request(&facts, "page");
        request.tool = Some(&tools[tool]);
        request.definition = Some(&digests[digest]);
        request.save = &save;
        request
    };
    let Ok(Queued::Waiting(ticket)) = office.desk.queue(&asked(0, 0)).await else {
        panic!("it is asked");
    };
    let answered = office.desk.answer(ticket.id(), Reply::Always).await;
    answered.unwrap();
    let decision = async |tool, digest| {
        let request = asked(tool, digest);
        office.policy.decide(&request).await.unwrap().decision
    };
    assert_eq!(decision(0, 0).await, Decision::Allow);
    assert_eq!(decision(0, 1).await, Decision::Ask);
    assert_eq!(decision(1, 0).await, Decision::Ask);
    assert_eq!(office.decision(&facts, "page").await, Decision::Ask);
}

#[tokio::test]
async fn an_answer_that_cannot_be_saved_leaves_the_question_waiting() {
    let office = Office::new([]);
    let ticket = office.waiting(&Facts::new(), "page").await;
    let reply = Reply::Save {
        scope: ReplyScope::Session,
        lasts: None,
    };
    let error = office.desk.answer(ticket.id(), reply).await.unwrap_err();
    assert!(matches!(error, AnswerError::NoScope(_, "session")));
    assert_eq!(office.desk.all().len(), 1);
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_any_more_leaves_nothing_saved() {
    let state: Arc<dyn State> = Arc::new(Shared::default());
    let approvals = Approvals::kept_in(state, "project");
    let policy = Arc::new(policy([]).approvals(approvals.clone()));
    let desk = Desk::new(Arc::clone(&policy));
    let office = Office { policy, desk };
    let ticket = office.waiting(&Facts::new(), "a").await;
    let id = ticket.id();
    // It goes away while the approval is being written.
    let (answered, ()) = tokio::join!(office.desk.answer(id, Reply::Always), async {
        drop(ticket);
    });
    assert!(matches!(answered, Err(AnswerError::NotFound(_))));
    assert!(approvals.list().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hundred_requests_each_ends_once_and_none_crosses_to_another() {
    const MANY: usize = 200;
    let office = Office::new([]);
    let permission = Permission::new(Arc::clone(&office.policy), office.desk.clone());
    let mut notices = office.desk.notices();
    let mut askers = Vec::new();
    let mut tasks = JoinSet::new();
    for at in 0..MANY {
        let permission = permission.clone();
        askers.push(tasks.spawn(async move {
            let facts = Facts::new().session(format!("s{}", at % 7));
            let name = format!("page{at}");
            let asked = request(&facts, &name);
            let ruling = permission.decide(&asked).await;
            (name, permission.enforce(&asked, &ruling).await)
        }));
    }
    let mut waiting = Vec::new();
    while waiting.len() < MANY {
        match notices.next().await {
            Some(Notice::Asked(question)) => waiting.push(question),
            other => panic!("{other:?}"),
        }
    }
    // Each question is on the lists of two who answer at the same time, each in an order of its own.
    let askers = Arc::new(askers);
    let mut people = JoinSet::new();
    for seed in [5, 6] {
        let (askers, desk) = (Arc::clone(&askers), office.desk.clone());
        let (mut random, mut left) = (Random::new(seed), waiting.clone());
        people.spawn(async move {
            let mut taken = Vec::new();
            while !left.is_empty() {
                let question = left.swap_remove(random.below(left.len()));
                let name = question.resources[0].to_string();
                let at: usize = name["page".len()..].parse().unwrap();
                let note = Some(name.clone());
                let reply = match random.below(4) {
                    0 => {
                        askers[at].abort();
                        continue;
                    }
                    1 => Reply::Reject { note },
                    _ => Reply::Once,
                };
                if desk.answer(question.id, reply).await.is_ok() {
                    taken.push(name);
                }
                tokio::task::yield_now().await;
            }
            taken
        });
    }
    let mut taken: Vec<_> = people.join_all().await.concat();
    let mut ended = std::collections::HashMap::new();
    while ended.len() < MANY {
        match notices.next().await {
            Some(Notice::Ended { question, ending }) => {
                assert!(
                    ended
                        .insert(question.resources[0].to_string(), ending)
                        .is_none()
                );
            }
            other => panic!("{other:?}"),
        }
    }
    let mut answered: Vec<_> = ended
        .iter()
        .filter(|(_, ending)| matches!(ending, Ending::Answered(_)))
        .map(|(name, _)| name.clone())
        .collect();
    answered.sort();
    taken.sort();
    assert_eq!(answered, taken, "an answer is taken once, or told as late");
    assert!((1..MANY).contains(&answered.len()));
    while let Some(done) = tasks.join_next().await {
        let Ok((name, answer)) = done else {
            continue;
        };
        match (&ended[&name], answer) {
            (Ending::Answered(Answer::Approved), Ok(())) => {}
            (
                Ending::Answered(Answer::Declined { note }),
                Err(Refusal::Declined { note: read }),
            ) => {
                assert_eq!((note, note.as_deref()), (&read, Some(name.as_str())));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(office.desk.all().is_empty());
}

#[tokio::test]
async fn an_answer_that_comes_too_late_takes_back_what_it_saved_and_nothing_older() {
    let state = Arc::new(Between::new(Arc::new(Shared::default())));
    let approvals = Approvals::kept_in(Arc::clone(&state) as Arc<dyn State>, "project");
    let policy = Arc::new(policy([]).approvals(approvals));
    let desk = Desk::new(Arc::clone(&policy));
    let facts = Facts::new();
    let minute = Some(Duration::from_secs(60));
    for (older, times) in [(None, 1), (minute, 1), (None, 2), (minute, 2)] {
        let lasts = Reply::Save {
            scope: ReplyScope::Project,
            lasts: Some(Duration::from_secs(9)),
        };
        let name = format!("x{}{times}", older.is_some());
        let save = vec![name.clone(); times];
        let mut request = request(&facts, &name);
        request.save = &save;
        let Queued::Waiting(ticket) = desk.queue(&request).await.unwrap() else {
            panic!("{name} is allowed");
        };
        let id = ticket.id();
        if older.is_some() {
            let approval = Approval::new("fetch", &name, Scope::Project);
            policy.saved().grant([approval], older).await.unwrap();
        }
        let before = policy.saved().list().await.unwrap();
        // The next write takes it with it.
        let withdrawn = async move { drop(ticket) };
        state.before_next(Operation::Write, None, Box::pin(withdrawn));
        let answered = desk.answer(id, lasts).await;
        assert!(matches!(answered, Err(AnswerError::NotFound(_))));
        assert_eq!(policy.saved().list().await.unwrap(), before, "{name}");
    }
}
