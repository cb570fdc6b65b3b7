//! How much clients without a session may have going on at once.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::site::Site;

/// Something of which there is only so much room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Requests without a handshake.
    Requests,
    /// Streams on which clients without a handshake are told of changes.
    Streams,
    /// Bytes of bodies that are not small.
    Bytes,
}

/// What one client, or all of them, have going on.
#[derive(Debug, Default)]
pub(crate) struct Room([AtomicUsize; 3]);

/// Room that is taken, until it is dropped.
pub(crate) struct Taken {
    site: Arc<Site>,
    own: Option<Arc<Room>>,
    kind: Kind,
    amount: usize,
}

/// There is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) kind: Kind,
    /// Whether it is the client's own that is full, and not that of all.
    pub(crate) own: bool,
}

impl Kind {
    /// The most of all clients together, and of one whose token has a principal.
    const fn most(self) -> (usize, usize) {
        match self {
            // As many as a session may have, of several clients.
            Self::Requests => (4_096, 1_024),
            // As many as there may be sessions, each of which has such a stream.
            Self::Streams => (1_024, 256),
            // Some whole bodies of each.
            Self::Bytes => (512 * 1024 * 1024, 128 * 1024 * 1024),
        }
    }
}

impl Room {
    fn take(&self, kind: Kind, amount: usize, most: usize) -> bool {
        let taken = self.of(kind).fetch_add(amount, Ordering::Relaxed);
        let fits = taken.saturating_add(amount) <= most;
        if !fits {
            self.leave(kind, amount);
        }
        fits
    }

    fn leave(&self, kind: Kind, amount: usize) {
        self.of(kind).fetch_sub(amount, Ordering::Relaxed);
    }

    fn of(&self, kind: Kind) -> &AtomicUsize {
        let Self([requests, streams, bytes]) = self;
        match kind {
            Kind::Requests => requests,
            Kind::Streams => streams,
            Kind::Bytes => bytes,
        }
    }
}

impl Taken {
    /// Takes room of one client and of all. Clients whose token has no principal are not told
    /// apart, and have only the bound of all.
    pub(crate) fn of(
        site: &Arc<Site>,
        own: Option<&Arc<Room>>,
        kind: Kind,
        amount: usize,
    ) -> Result<Self, Full> {
        take(&site.room, own.map(|own| &**own), kind, amount)?;
        Ok(Self {
            site: Arc::clone(site),
            own: own.cloned(),
            kind,
            amount,
        })
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// Gives back what is not needed.
    pub(crate) fn shrink_to(&mut self, amount: usize) {
        let surplus = self.amount.saturating_sub(amount);
        self.amount -= surplus;
        self.leave(surplus);
    }

    fn leave(&self, amount: usize) {
        self.site.room.leave(self.kind, amount);
        if let Some(own) = &self.own {
            own.leave(self.kind, amount);
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.leave(self.amount);
    }
}

fn take(all: &Room, own: Option<&Room>, kind: Kind, amount: usize) -> Result<(), Full> {
    let (most, most_of_one) = kind.most();
    if own.is_some_and(|own| !own.take(kind, amount, most_of_one)) {
        return Err(Full { kind, own: true });
    }
    if all.take(kind, amount, most) {
        return Ok(());
    }
    if let Some(own) = own {
        own.leave(kind, amount);
    }
    Err(Full { kind, own: false })
}

/// What whoever is turned away is told.
impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (most, most_of_one) = self.kind.most();
        let (most, whose) = match self.own {
            true => (most_of_one, "of this client"),
            false => (most, "of all clients"),
        };
        match self.kind {
            Kind::Requests => write!(
                f,
                "{most} requests {whose} are running; wait for one to end"
            ),
            Kind::Streams => write!(
                f,
                "{most} streams of changes {whose} are open; close one, or ask for more on one"
            ),
            Kind::Bytes => write!(
                f,
                "bodies {whose} take {most} bytes already; send this one again when others are answered"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Full, Kind, Room, take};

    #[test]
    fn one_client_takes_its_own_room_and_leaves_that_of_others() {
        let (all, own, other) = (Room::default(), Room::default(), Room::default());
        for kind in [Kind::Requests, Kind::Streams] {
            let (most, most_of_one) = kind.most();
            for _ in 0..most_of_one {
                assert_eq!(take(&all, Some(&own), kind, 1), Ok(()));
            }
            assert_eq!(
                take(&all, Some(&own), kind, 1),
                Err(Full { kind, own: true })
            );
            assert_eq!(take(&all, Some(&other), kind, 1), Ok(()));
            // Those that are not told apart take the rest.
            for _ in most_of_one + 1..most {
                assert_eq!(take(&all, None, kind, 1), Ok(()));
            }
            let full = Err(Full { kind, own: false });
            assert_eq!(take(&all, None, kind, 1), full);
            // Whoever is turned away by all takes nothing of its own.
            for _ in 0..=most_of_one {
                assert_eq!(take(&all, Some(&other), kind, 1), full);
            }
            all.leave(kind, 1);
            assert_eq!(take(&all, Some(&other), kind, 1), Ok(()));
        }
    }

    #[test]
    fn bodies_count_by_their_bytes() {
        let (all, own) = (Room::default(), Room::default());
        let (_, most) = Kind::Bytes.most();
        assert_eq!(take(&all, Some(&own), Kind::Bytes, most - 10), Ok(()));
        assert!(take(&all, Some(&own), Kind::Bytes, 11).is_err());
        assert_eq!(take(&all, Some(&own), Kind::Bytes, 10), Ok(()));
        assert!(take(&all, Some(&own), Kind::Bytes, usize::MAX).is_err());
    }
}
