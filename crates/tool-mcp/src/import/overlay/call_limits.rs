//! How many calls there may be.

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::Value;

use crate::import::reader::{Reader, SECONDS};

/// How many calls there may be: in a time, and beside each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallLimits {
    /// The most calls, in any span of that length.
    pub(crate) rate: Option<(NonZeroU32, Duration)>,
    /// The most calls at the same time.
    pub(crate) at_once: Option<NonZeroU32>,
}

/// The length of a span where none is given, in seconds.
const MINUTE: u64 = 60;
/// The moments of so many calls are kept.
const MOST_CALLS: u64 = 10_000;
const MOST_AT_ONCE: u64 = 1_024;

impl CallLimits {
    pub(super) fn read(reader: &mut Reader, at: &str, value: &Value) -> Self {
        let mut limits = Self::default();
        let Some(members) = reader.members(at, value, &["atOnce", "most", "per"]) else {
            return limits;
        };
        if let Some((at, value)) = reader.member(at, members, "atOnce") {
            limits.at_once = reader.count(&at, value, 1..=MOST_AT_ONCE);
        }
        let per = match reader.member(at, members, "per") {
            None => Some(MINUTE),
            Some((at, value)) => {
                if reader.member("", members, "most").is_none() {
                    reader.wrong(&at, "is of no use without \"most\"");
                }
                reader.whole(&at, value, SECONDS)
            }
        };
        if let Some((at, value)) = reader.member(at, members, "most")
            && let (Some(most), Some(per)) = (reader.count(&at, value, 1..=MOST_CALLS), per)
        {
            limits.rate = Some((most, Duration::from_secs(per)));
        }
        limits
    }
}
