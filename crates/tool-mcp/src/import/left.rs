//! Whose requests were given up a moment ago.

use std::time::Duration;

use tokio::time::Instant;

use super::whose::Whose;

/// How long a question may be on its way that was asked before the server knew.
const ON_ITS_WAY: Duration = Duration::from_secs(10);

/// Whose requests were given up a moment ago. What a server asked in the middle of one may still
/// come in, and is not for somebody else to answer.
#[derive(Default)]
pub(super) struct Left(Vec<(Whose, Instant)>);

impl Left {
    /// Notes that somebody's request was given up.
    pub(super) fn add(&mut self, whose: Whose) {
        self.forget_old();
        // The last of each is enough, so that there are no more than callers.
        let alike = |(left, _): &(Whose, Instant)| {
            left.is_same(&whose) || matches!((left, &whose), (Whose::Somebody, Whose::Somebody))
        };
        self.0.retain(|left| !alike(left));
        self.0.push((whose, Instant::now()));
    }

    /// Whether all of it was the caller's own.
    pub(super) fn is_all_of(&mut self, caller: &Whose) -> bool {
        self.forget_old();
        self.0.iter().all(|(left, _)| left.is_same(caller))
    }

    fn forget_old(&mut self) {
        self.0.retain(|(_, since)| since.elapsed() < ON_ITS_WAY);
    }
}

#[cfg(test)]
mod tests {
    use super::{Left, ON_ITS_WAY, Whose};

    #[tokio::test(start_paused = true)]
    async fn a_question_of_a_request_that_was_given_up_is_for_nobody_else_for_a_while() {
        let session = |id: &str| Whose::Session(tool_core::SessionId::from(id));
        let mut left = Left::default();
        assert!(left.is_all_of(&session("a")));
        left.add(session("a"));
        assert!(left.is_all_of(&session("a")));
        assert!(!left.is_all_of(&session("b")));
        assert!(!left.is_all_of(&Whose::Host));
        tokio::time::advance(ON_ITS_WAY / 2).await;
        left.add(Whose::Somebody);
        // Nobody knows whether that is the same one.
        assert!(!left.is_all_of(&Whose::Somebody));
        tokio::time::advance(ON_ITS_WAY / 2).await;
        assert!(!left.is_all_of(&session("a")));
        tokio::time::advance(ON_ITS_WAY / 2).await;
        assert!(left.is_all_of(&session("b")));
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_is_remembered_than_there_are_callers() {
        let mut left = Left::default();
        for _ in 0..1_000 {
            left.add(Whose::Host);
            left.add(Whose::Somebody);
        }
        assert_eq!(left.0.len(), 2);
    }
}
