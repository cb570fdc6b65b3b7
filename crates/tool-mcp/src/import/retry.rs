//! How long a server that ended is left alone.

use std::time::Duration;

/// Draws a number from 0 up to, and without, 1.
pub(crate) type Jitter = dyn Fn() -> f64 + Send + Sync;

/// The wait before an attempt, the first of which is 0: doubled each time up to a limit, and
/// then anything from half of it to the whole, so that servers that ended together do not all
/// come back together.
pub(crate) fn wait(first: Duration, most: Duration, attempt: u32, jitter: &Jitter) -> Duration {
    let doubled = first.saturating_mul(2_u32.saturating_pow(attempt));
    let share = jitter().clamp(0.0, 1.0).mul_add(0.5, 0.5);
    doubled.min(most).mul_f64(share)
}

/// A number from the system's own source; without one, the middle.
pub(crate) fn random() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_be_bytes(bytes)) / (f64::from(u32::MAX) + 1.0),
        Err(_) => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{random, wait};

    #[test]
    fn the_wait_doubles_to_its_limit_and_is_spread_over_its_upper_half() {
        let (first, most) = (Duration::from_millis(500), Duration::from_secs(30));
        let longest = |attempt| wait(first, most, attempt, &|| 1.0);
        assert_eq!(longest(0), first);
        assert_eq!(longest(1), Duration::from_secs(1));
        assert_eq!(longest(3), Duration::from_secs(4));
        assert_eq!(longest(6), most);
        assert_eq!(longest(u32::MAX), most);
        assert_eq!(wait(first, most, 1, &|| 0.0), first);
        assert!((0.0..1.0).contains(&random()));
    }
}
