//! What a handler reaches of its runtime.

use crate::{Credentials, Dispatch, PreliminarySink, ProgressSink, Teardown};

/// What a handler reaches of its runtime through its context, all of it behind one object, so that
/// a call makes one.
///
/// Whatever is not there is `None`. Override what the runtime offers for the call.
pub trait CallHost: Send + Sync {
    /// Who listens to progress; without anybody it goes nowhere.
    fn progress(&self) -> Option<&dyn ProgressSink> {
        None
    }

    /// Who takes preliminary results; without anybody they go nowhere.
    fn preliminary(&self) -> Option<&dyn PreliminarySink> {
        None
    }

    /// How the handler calls other tools.
    fn dispatch(&self) -> Option<&dyn Dispatch> {
        None
    }

    /// Who takes cleanups.
    fn teardown(&self) -> Option<&dyn Teardown> {
        None
    }

    /// Who hands out credentials that the handler asks for while it runs; without anybody each is
    /// refused.
    fn credentials(&self) -> Option<&dyn Credentials> {
        None
    }
}
