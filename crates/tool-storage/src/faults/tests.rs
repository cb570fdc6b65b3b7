//! Every single operation on the disk fails in its turn, alone and with all that follow: the
//! counts come from a life without faults, so that none is left out.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod artifacts;
mod audit;
mod costs;
mod outputs;
mod state;

use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::plan::{Failing, Plan};
use super::{Faults, Op};

/// Runs a life on a sound disk, then once for each of its operations with that one failing, and
/// once more with all that follow failing too. `life` gets a directory and how its disk fails, and
/// gives what it was told; `check` looks at what is there afterwards.
fn fail_each_operation<T>(
    life: impl Fn(&Path, Faults) -> T,
    check: impl Fn(&Path, Failing, &T),
) -> Vec<Op> {
    let run = |failing| {
        // In memory where that is possible, as a thousand syncs take their time.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let dir = dir.unwrap();
        let plan = Arc::new(Plan::new(failing));
        let told = life(dir.path(), Faults::of(Arc::clone(&plan)));
        check(dir.path(), failing, &told);
        plan.seen()
    };
    let operations = run(Failing::Nothing);
    for at in 0..operations.len() {
        let seen = run(Failing::Once(at));
        assert_eq!(
            seen[..=at],
            operations[..=at],
            "a life is the same each time"
        );
        run(Failing::From(at));
    }
    operations
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(Unparks(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut cx) {
            return done;
        }
        // Threads that work aside need the processor.
        std::thread::park();
    }
}

struct Unparks(std::thread::Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
