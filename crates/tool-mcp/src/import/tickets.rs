//! Rounds of calls that were counted already.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::slot::drawn_key;

/// The most that are remembered. The oldest go first, and their rounds are counted anew.
const MOST: usize = 4_096;

/// Rounds of calls that may go on uncounted, as the call was counted when it was begun. Each may do
/// so once: what a client carries from round to round is good any number of times.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<VecDeque<String>>);

impl Tickets {
    /// One more round. Without randomness there is none, and the round is counted.
    pub(super) fn draw(&self) -> Option<String> {
        let ticket = drawn_key()?;
        let mut good = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if good.len() >= MOST {
            good.pop_front();
        }
        good.push_back(ticket.clone());
        Some(ticket)
    }

    /// Whether a round was still to come, which it is no more.
    pub(super) fn spend(&self, ticket: &str) -> bool {
        let mut good = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = good.iter().position(|good| good == ticket);
        at.and_then(|at| good.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Tickets};

    #[test]
    fn a_ticket_is_good_once_and_no_more_are_remembered_than_the_limit() {
        let tickets = Tickets::default();
        let oldest = tickets.draw().expect("there is randomness");
        let next = tickets.draw().expect("there is randomness");
        assert!(!tickets.spend("made up"));
        for _ in 1..MOST {
            tickets.draw();
        }
        assert!(!tickets.spend(&oldest));
        assert!(tickets.spend(&next));
        assert!(!tickets.spend(&next));
        assert_eq!(tickets.0.lock().expect("no panic").len(), MOST - 1);
    }
}
