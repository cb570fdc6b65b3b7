//! How long a server may take.

use std::time::Duration;

use serde_json::Value;

use crate::import::Limits;
use crate::import::reader::{Reader, SECONDS};

/// How long a server may take, where that is not what holds for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Patience {
    connect: Option<Duration>,
    idle: Option<Duration>,
    total: Option<Duration>,
}

impl Patience {
    pub(super) fn read(reader: &mut Reader, at: &str, value: &Value) -> Self {
        let mut patience = Self::default();
        let Some(members) = reader.members(at, value, &["connect", "idle", "total"]) else {
            return patience;
        };
        for (key, field) in [
            ("connect", &mut patience.connect),
            ("idle", &mut patience.idle),
            ("total", &mut patience.total),
        ] {
            if let Some((at, value)) = reader.member(at, members, key) {
                let seconds = reader.whole(&at, value, SECONDS);
                *field = seconds.map(Duration::from_secs);
            }
        }
        patience
    }

    pub(super) fn over(&self, all: &Limits) -> Limits {
        let mut limits = all.clone();
        limits.connect = self.connect.unwrap_or(limits.connect);
        limits.idle = self.idle.unwrap_or(limits.idle);
        limits.total = self.total.unwrap_or(limits.total);
        limits
    }
}
