//! Looking for an answer for a moment instead of sleeping until it comes.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Context;
use std::time::{Duration, Instant};

/// Sooner than any answer for which a thread that slept had to be woken on another core. Whoever
/// answers as fast runs on the core that sleeping left to it, and looking would be in its way.
const NEAR: Duration = Duration::from_micros(16);
/// How long is looked for an answer: being woken, a moment of work, and no more.
const WINDOW: Duration = Duration::from_micros(50);
/// The most that an answer may have taken a thread that slept, for which it is woken as well.
const FAR: Duration = Duration::from_micros(90);
/// Answers in a row between [`NEAR`] and [`FAR`] before it is looked for the next one.
const FEW: u32 = 4;
/// The most of such answers, which are asked for after many looks in vain.
const MANY: u32 = 4096;

/// Tells whether to look for what one peer sends next, or to sleep until it is there.
///
/// A thread that sleeps is woken some 20 us after its answer is there where another core sent it,
/// which is more than a whole call takes otherwise. So whoever waits for one answer, which came soon
/// lately and yet not at once, lets the runtime look for it, turn by turn and for at most 50 us;
/// everything else that is ready runs between two looks. A look in vain doubles how many such answers
/// have to be seen before the next one, up to 4,096, and one that finds something halves it again: a peer
/// for which every look is in vain costs ten of them, and from there on one for every 4,096 answers.
///
/// It never looks where more than one answer is waited for, as there is something to do then.
pub(crate) struct Lookout {
    seen: Mutex<Seen>,
    /// The clock.
    now: fn() -> Instant,
}

struct Seen {
    /// When what is answered was sent, until the answer comes.
    sent: Option<Instant>,
    /// Whether it is looked for the answer.
    looks: bool,
    /// Answers in a row that were worth a look.
    in_a_row: u32,
    /// How many have to be.
    enough: u32,
    /// Whether several answers are waited for.
    crowded: bool,
}

impl Default for Lookout {
    fn default() -> Self {
        Self::by(Instant::now)
    }
}

impl Lookout {
    /// One that goes by that clock.
    pub(crate) fn by(now: fn() -> Instant) -> Self {
        let seen = Seen {
            sent: None,
            looks: false,
            in_a_row: 0,
            enough: FEW,
            crowded: false,
        };
        Self {
            seen: Mutex::new(seen),
            now,
        }
    }

    /// Says that something was sent, to which there is an answer.
    pub(crate) fn sent(&self) {
        let mut seen = self.seen();
        seen.sent = Some((self.now)());
        seen.crowded = false;
        seen.looks = seen.in_a_row >= seen.enough;
    }

    /// Says that something came.
    pub(crate) fn came(&self) {
        let mut seen = self.seen();
        let Some(sent) = seen.sent.take() else {
            return;
        };
        if std::mem::take(&mut seen.looks) {
            // Where it was looked for long enough, that was noted when it ended.
            seen.enough = (seen.enough / 2).max(FEW);
            return;
        }
        let took = (self.now)().saturating_duration_since(sent);
        seen.in_a_row = match took > NEAR && took <= FAR {
            true => seen.in_a_row.saturating_add(1),
            false => 0,
        };
    }

    /// Says that something was sent while another answer is waited for.
    pub(crate) fn crowd(&self) {
        let mut seen = self.seen();
        (seen.sent, seen.looks, seen.crowded) = (None, false, true);
    }

    /// Whether several answers were waited for when something was sent last.
    pub(crate) fn is_crowded(&self) -> bool {
        self.seen().crowded
    }

    /// Whether to look once more. Once it is said to sleep, that holds for this answer.
    pub(crate) fn looks(&self) -> bool {
        let mut seen = self.seen();
        let Some(sent) = seen.sent.filter(|_| seen.looks) else {
            return false;
        };
        if (self.now)().saturating_duration_since(sent) < WINDOW {
            return true;
        }
        // It came too late for the look, whenever it comes.
        (seen.sent, seen.looks, seen.in_a_row) = (None, false, 0);
        seen.enough = seen.enough.saturating_mul(2).min(MANY);
        false
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the task polled again once everything else that is ready has run and the runtime has looked for
/// what came in. The worker does not sleep before.
pub(crate) fn look(cx: &mut Context<'_>) {
    // Its waker stays with the runtime, which is all that it is for.
    let _ = pin!(tokio::task::yield_now()).poll(cx);
}

#[cfg(test)]
pub(crate) mod tests;
