//! Questions that another process answers.

use std::sync::Arc;
use std::time::Duration;

use tool_core::{Action, Answer, Facts, Request, Resource, State};
use tool_permission::{
    ApprovalsError, Desk, Mailbox, Posted, Queued, Reply, ReplyScope, RulePolicy, Scope, Ticket,
};

use crate::approvals::Shared;
use crate::policy;

/// A gateway that serves its desk, and the mailbox of another process.
struct Gateway {
    desk: Desk,
    policy: Arc<RulePolicy>,
    mailbox: Mailbox,
}

impl Gateway {
    fn start() -> Self {
        let state: Arc<dyn State> = Arc::new(Shared::default());
        let policy = Arc::new(policy([]));
        let desk = Desk::new(Arc::clone(&policy));
        let served = desk.clone();
        let own = Mailbox::kept_in(Arc::clone(&state), "project");
        tokio::spawn(async move { own.serve(&served, "g1").await });
        Self {
            desk,
            policy,
            mailbox: Mailbox::kept_in(state, "project"),
        }
    }

    async fn asks(&self, name: &str) -> (Ticket, Posted) {
        let (facts, save) = (Facts::new().session("s"), [name.to_owned()]);
        let resources = [Resource::from(name)];
        let mut request = Request::new(Action::new("fetch"), resources, &facts);
        request.save = &save;
        let Ok(Queued::Waiting(ticket)) = self.desk.queue(&request).await else {
            panic!("{name} is not asked");
        };
        loop {
            let posted = self.mailbox.list().await.unwrap();
            if let Some(posted) = posted.into_iter().find(|one| one.resources == [name]) {
                return (ticket, posted);
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_posted_reply_ends_its_question_as_if_it_was_given_at_the_desk() {
    let gateway = Gateway::start();
    let declined = |note: Option<&str>| Answer::Declined {
        note: note.map(str::to_owned),
    };
    let note = || Some("not now".to_owned());
    let save = |scope, lasts| Reply::Save { scope, lasts };
    let minute = Some(Duration::from_secs(60));
    for (name, reply, answer) in [
        ("a", Reply::Once, Answer::Approved),
        ("b", Reply::Always, Answer::Approved),
        ("c", save(ReplyScope::Session, minute), Answer::Approved),
        ("d", Reply::Reject { note: None }, declined(None)),
        (
            "e",
            Reply::Reject { note: note() },
            declined(Some("not now")),
        ),
        (
            "f",
            Reply::RejectAll { note: note() },
            declined(Some("not now")),
        ),
        (
            "g",
            Reply::RejectAndStop { note: note() },
            Answer::Stopped { note: note() },
        ),
    ] {
        let (ticket, posted) = gateway.asks(name).await;
        assert!(gateway.mailbox.answer(&posted.id, reply).await.unwrap());
        assert_eq!(ticket.answer().await.unwrap(), answer, "{name}");
    }
    let saved = gateway.policy.saved().list().await.unwrap();
    let saved = saved.iter().map(|one| {
        let lasts = one.expires_ms.map(|end| end - one.created_ms);
        (one.resource.as_str(), one.scope.clone(), lasts)
    });
    let mut saved: Vec<_> = saved.collect();
    saved.sort_by_key(|(name, ..)| *name);
    let expected = [
        ("b", Scope::Project, None),
        ("c", Scope::Session("s".into()), Some(60_000)),
    ];
    assert_eq!(saved, expected);
}

#[tokio::test(start_paused = true)]
async fn of_several_answers_the_first_counts_and_an_answered_question_is_not_listed() {
    let gateway = Gateway::start();
    let (ticket, posted) = gateway.asks("a").await;
    let answer = |reply| gateway.mailbox.answer(&posted.id, reply);
    assert!(answer(Reply::Once).await.unwrap());
    assert!(!answer(Reply::Reject { note: None }).await.unwrap());
    assert!(gateway.mailbox.list().await.unwrap().is_empty());
    assert_eq!(ticket.answer().await.unwrap(), Answer::Approved);
    assert!(!answer(Reply::Once).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_answer_tells_who_gave_it() {
    let gateway = Gateway::start();
    let (ticket, posted) = gateway.asks("a").await;
    let answered = gateway.mailbox.answer_as(&posted.id, Reply::Once, "ada");
    assert!(answered.await.unwrap());
    assert_eq!(ticket.word().await.unwrap(), Answer::Approved.by("ada"));
    let (ticket, posted) = gateway.asks("b").await;
    let answered = gateway
        .mailbox
        .answer(&posted.id, Reply::Reject { note: None });
    assert!(answered.await.unwrap());
    let word = ticket.word().await.unwrap();
    assert_eq!(word.by.as_deref(), Some("mailbox"));
}

#[tokio::test]
async fn what_another_version_keeps_is_told_as_that_and_left_alone() {
    let state: Arc<dyn State> = Arc::new(Shared::default());
    let text = br#"{"version":2,"letters":[]}"#;
    state.write("questions/project", None, text).await.unwrap();
    let mailbox = Mailbox::kept_in(Arc::clone(&state), "project");
    let listed = mailbox.list().await;
    assert!(
        matches!(listed, Err(ApprovalsError::Version(2))),
        "{listed:?}"
    );
    let answered = mailbox.answer("g1.ask_1", Reply::Once).await;
    assert!(matches!(answered, Err(ApprovalsError::Version(2))));
}

/// A gateway that is gone renews nothing.
#[tokio::test]
async fn a_question_whose_lease_is_over_waits_no_more() {
    let state: Arc<dyn State> = Arc::new(Shared::default());
    let question = |id: &str, until: &str| {
        format!(
            r#"{{"id":"{id}","action":"fetch","resources":["a"],"because":"x","until_ms":{until}}}"#
        )
    };
    let (old, new) = (
        question("g1.ask_1", "1"),
        question("g2.ask_1", &u64::MAX.to_string()),
    );
    let text = format!(r#"{{"version":1,"questions":[{old},{new}]}}"#);
    state
        .write("questions/project", None, text.as_bytes())
        .await
        .unwrap();
    let mailbox = Mailbox::kept_in(state, "project");
    let listed = mailbox.list().await.unwrap();
    assert_eq!(
        listed.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(),
        ["g2.ask_1"]
    );
    assert!(!mailbox.answer("g1.ask_1", Reply::Once).await.unwrap());
    assert!(mailbox.answer("g2.ask_1", Reply::Once).await.unwrap());
}
