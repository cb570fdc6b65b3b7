//! State in a folder, whose writers take turns with other processes.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;
use tool_core::{BoxFuture, State, StateError, StateReading, StateVersion};

/// A state whose writers may have to wait for another process, on a thread that nothing else needs.
///
/// Under tokio a write or a claim takes a thread for work that blocks; elsewhere there is none to
/// take, and it blocks whoever polls it. Reading waits for nobody, and stays where it is.
pub(crate) struct TurnsAside<S>(Arc<S>);

impl<S> TurnsAside<S> {
    pub(crate) fn new(state: S) -> Self {
        Self(Arc::new(state))
    }
}

impl<S: State + 'static> State for TurnsAside<S> {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        let Ok(here) = Handle::try_current() else {
            return self.0.claim(key, until);
        };
        let (state, key, driver) = (Arc::clone(&self.0), key.to_owned(), here.clone());
        let claimed = move || driver.block_on(state.claim(&key, until));
        Box::pin(async move {
            here.spawn_blocking(claimed)
                .await
                .map_err(StateError::new)?
        })
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        self.0.read(key, known)
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        let Ok(here) = Handle::try_current() else {
            return self.0.write(key, expected, value);
        };
        let (state, key, driver) = (Arc::clone(&self.0), key.to_owned(), here.clone());
        let (expected, value) = (expected.cloned(), value.to_owned());
        let written = move || driver.block_on(state.write(&key, expected.as_ref(), &value));
        Box::pin(async move {
            here.spawn_blocking(written)
                .await
                .map_err(StateError::new)?
        })
    }
}
