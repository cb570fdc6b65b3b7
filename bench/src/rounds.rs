//! Interleaved rounds and their statistics.
//!
//! A machine that does other work is now fast and now slow. So nobody is measured on its own: in
//! every round each contender has one short turn, the rounds begin with another one each time, and
//! two are compared by the median of the ratios of their turns in the same round.

use std::hint::black_box;
use std::time::{Duration, Instant};

use futures_executor::block_on;

/// How long one turn is to take.
const TURN: Duration = Duration::from_micros(500);
/// How long a contender runs before anything is noted.
const WARM_UP: Duration = Duration::from_millis(50);

/// Somebody to measure: runs so many calls, one after the other.
pub struct Contender<'a> {
    name: String,
    run: Box<dyn Fn(u32) + 'a>,
}

impl<'a> Contender<'a> {
    /// Measures an asynchronous call. The executor is entered once for a turn.
    pub fn awaited<F, T>(name: impl Into<String>, call: F) -> Self
    where
        F: AsyncFn() -> T + 'a,
    {
        Self {
            name: name.into(),
            run: Box::new(move |calls| {
                block_on(async {
                    for _ in 0..calls {
                        black_box(call().await);
                    }
                });
            }),
        }
    }

    /// Measures a call that never waits.
    pub fn direct<T>(name: impl Into<String>, call: impl Fn() -> T + 'a) -> Self {
        Self {
            name: name.into(),
            run: Box::new(move |calls| {
                for _ in 0..calls {
                    black_box(call());
                }
            }),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs so many calls without measuring, for a profiler to look at.
    pub fn run(&self, calls: u32) {
        (self.run)(calls);
    }

    fn turn(&self, calls: u32) -> Duration {
        let start = Instant::now();
        (self.run)(calls);
        start.elapsed()
    }

    /// Warms up and finds out how many calls fill a turn.
    fn calls_per_turn(&self, turn: Duration) -> u32 {
        let start = Instant::now();
        let mut calls = 1_u32;
        loop {
            let took = self.turn(calls);
            if start.elapsed() >= WARM_UP {
                let fitting = f64::from(calls) * turn.as_secs_f64() / took.as_secs_f64();
                return (fitting as u32).max(1);
            }
            if took < turn {
                calls = calls.saturating_mul(2);
            }
        }
    }
}

/// The nanoseconds per call of every contender in every round.
#[derive(Default)]
pub struct Rounds {
    by_contender: Vec<Vec<f64>>,
}

/// A median with the tenth and the ninetieth of a hundred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Rounds {
    /// Measures so many rounds.
    pub fn measure(contenders: &[&Contender<'_>], rounds: u32) -> Self {
        Self::measure_for(contenders, rounds, TURN)
    }

    /// The same with turns of that length.
    pub fn measure_for(contenders: &[&Contender<'_>], rounds: u32, turn: Duration) -> Self {
        let fitting = contenders.iter().map(|one| one.calls_per_turn(turn));
        let calls: Vec<u32> = fitting.collect();
        let mut by_contender = vec![Vec::with_capacity(rounds as usize); contenders.len()];
        for round in 0..rounds as usize {
            for position in 0..contenders.len() {
                let index = (round + position) % contenders.len();
                let took = contenders[index].turn(calls[index]);
                by_contender[index].push(took.as_secs_f64() * 1e9 / f64::from(calls[index]));
            }
        }
        Self { by_contender }
    }

    /// What was measured otherwise, a list for each contender with a number for each round.
    pub fn of(by_contender: Vec<Vec<f64>>) -> Self {
        Self { by_contender }
    }

    /// Adds the rounds of another measurement of the same contenders.
    pub fn append(&mut self, other: Self) {
        if self.by_contender.is_empty() {
            *self = other;
            return;
        }
        for (own, others) in self.by_contender.iter_mut().zip(other.by_contender) {
            own.extend(others);
        }
    }

    /// Nanoseconds per call.
    pub fn nanos(&self, index: usize) -> Spread {
        Spread::of(self.by_contender[index].clone())
    }

    /// One contender's time over another's, round by round.
    pub fn ratio(&self, index: usize, over: usize) -> Spread {
        let both = self.by_contender[index]
            .iter()
            .zip(&self.by_contender[over]);
        Spread::of(both.map(|(one, other)| one / other).collect())
    }

    /// One ratio over another one, round by round; each is a contender and its peer.
    pub fn grown(&self, [one, its]: [usize; 2], [other, others]: [usize; 2]) -> Spread {
        let all = (0..self.by_contender[one].len()).map(|round| {
            let nanos = |index: usize| self.by_contender[index][round];
            (nanos(one) / nanos(its)) / (nanos(other) / nanos(others))
        });
        Spread::of(all.collect())
    }

    /// How much longer one contender takes than another does, round by round.
    pub fn extra(&self, index: usize, base: usize) -> Spread {
        let both = self.by_contender[index]
            .iter()
            .zip(&self.by_contender[base]);
        Spread::of(both.map(|(one, base)| one - base).collect())
    }

    /// What one contender adds to a base over what another adds, round by round.
    pub fn added(&self, index: usize, over: usize, base: usize) -> Spread {
        let all = self.by_contender[index]
            .iter()
            .zip(&self.by_contender[over])
            .zip(&self.by_contender[base]);
        let ratios = all.map(|((one, other), base)| (one - base) / (other - base));
        Spread::of(ratios.collect())
    }
}

impl Spread {
    /// As many times that limit.
    pub fn over(self, limit: f64) -> Self {
        Self {
            low: self.low / limit,
            median: self.median / limit,
            high: self.high / limit,
        }
    }

    /// Of at least one number.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        Self {
            low: at(0.1),
            median: at(0.5),
            high: at(0.9),
        }
    }
}

#[cfg(test)]
mod tests;
