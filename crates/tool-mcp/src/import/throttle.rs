//! Limits on how many calls reach a server or one of its tools.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::gates::became;
use super::overlay::CallLimits;

/// Limits on how many calls reach one server, or one of its tools, whoever makes them.
pub(crate) struct Throttle {
    /// Whose calls are counted, as the subject of a sentence.
    whose: String,
    rate: Option<Rate>,
    at_once: Option<(NonZeroU32, Arc<Semaphore>)>,
}

/// A number of calls in any span of a length.
struct Rate {
    most: NonZeroU32,
    per: Duration,
    /// When the last calls were let through, the oldest first.
    calls: Mutex<VecDeque<Instant>>,
}

/// The place of a call, for as long as it runs.
pub(crate) struct Place(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl Throttle {
    /// `None` where there is no limit.
    pub(crate) fn new(whose: String, limits: &CallLimits) -> Option<Arc<Self>> {
        if *limits == CallLimits::default() {
            return None;
        }
        let rate = limits.rate.map(|(most, per)| Rate {
            most,
            per,
            calls: Mutex::default(),
        });
        let places = |most: NonZeroU32| Arc::new(Semaphore::new(most.get() as usize));
        Some(Arc::new(Self {
            whose,
            rate,
            at_once: limits.at_once.map(|most| (most, places(most))),
        }))
    }

    /// Counts a call.
    ///
    /// # Errors
    /// What the model reads of one that is over the rate.
    pub(crate) fn count(&self) -> Result<(), String> {
        self.rate(true)
    }

    /// Whether a call would be within the rate now.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub(crate) fn has_room(&self) -> Result<(), String> {
        self.rate(false)
    }

    fn rate(&self, counts: bool) -> Result<(), String> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        rate.take(counts).map_err(|wait| {
            format!(
                "{} takes at most {} calls in {} s and has had them; call again in {} s",
                self.whose,
                rate.most,
                rate.per.as_secs(),
                // Rounded up, so that it is not too early.
                wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
            )
        })
    }

    /// Waits for a place beside the other calls, which a call gives back while its client is asked.
    ///
    /// # Errors
    /// What the model reads of a call that finds none in time.
    ///
    /// # Cancel safety
    /// A dropped future holds no place.
    pub(crate) async fn place(
        &self,
        deadline: Instant,
        patience: Duration,
        goes_on: bool,
    ) -> Result<Option<Place>, String> {
        let Some((most, places)) = &self.at_once else {
            return Ok(None);
        };
        match timeout_at(deadline, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(Some(Place(place))),
            _ => Err(format!(
                "{} takes at most {most} calls at the same time, and none of them ended within \
                 {} s; {}",
                self.whose,
                patience.as_secs_f64(),
                became(goes_on),
            )),
        }
    }
}

impl Rate {
    /// Counts a call if it is to be counted, or tells how long it is too early.
    fn take(&self, counts: bool) -> Result<(), Duration> {
        let now = Instant::now();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.front().is_some_and(|call| now - *call >= self.per) {
            calls.pop_front();
        }
        match calls.front() {
            Some(oldest) if calls.len() >= self.most.get() as usize => {
                Err(self.per.saturating_sub(now - *oldest))
            }
            _ => {
                if counts {
                    calls.push_back(now);
                }
                Ok(())
            }
        }
    }
}
