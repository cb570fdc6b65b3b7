//! A state that passes everything on to another.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tool_core::{BoxFuture, State, StateError, StateReading, StateVersion};

/// A state that passes everything on to another, where a test comes between: an operation can fail,
/// lose its answer, hang, or have to wait until something else is done.
///
/// ```
/// use std::sync::Arc;
/// use std::time::SystemTime;
///
/// use tool_core::State;
/// use tool_testkit::state::{Between, Fault, Operation};
///
/// # async fn test(real: Arc<dyn State>) -> Result<(), tool_core::StateError> {
/// let state = Between::new(real);
/// state.set(Operation::Claim, Some(Fault::Fails("the disk is gone")));
/// assert!(state.claim("key", SystemTime::now()).await.is_err());
/// state.set(Operation::Claim, None);
/// assert!(state.claim("key", SystemTime::now()).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// That of the state that it passes on to.
pub struct Between {
    state: Arc<dyn State>,
    plan: Mutex<Plan>,
}

/// What can be done with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// [`State::claim`].
    Claim,
    /// [`State::read`].
    Read,
    /// [`State::write`].
    Write,
}

/// What goes wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is not passed on, and fails with this cause.
    Fails(&'static str),
    /// It is passed on, and its answer is lost: it fails with this cause.
    LosesAnswers(&'static str),
    /// It is not passed on, and never ends.
    Hangs,
}

#[derive(Default)]
struct Plan {
    faults: Vec<(Operation, Fault)>,
    firsts: Vec<First>,
}

/// What comes before the next operation of a sort, with this key where one is named.
struct First {
    operation: Operation,
    key: Option<String>,
    work: BoxFuture<'static, ()>,
}

impl Between {
    /// Passes everything on.
    pub fn new(state: Arc<dyn State>) -> Self {
        Self {
            state,
            plan: Mutex::default(),
        }
    }

    /// Sets what goes wrong with an operation from now on, or that nothing does.
    pub fn set(&self, operation: Operation, fault: Option<Fault>) {
        let faults = &mut self.plan().faults;
        faults.retain(|(other, _)| *other != operation);
        faults.extend(fault.map(|fault| (operation, fault)));
    }

    /// Has the next such operation, of that key where one is named, wait until something is done:
    /// what another does first, or a gate that the test opens. Further ones go on.
    pub fn before_next(
        &self,
        operation: Operation,
        key: Option<&str>,
        work: BoxFuture<'static, ()>,
    ) {
        self.plan().firsts.push(First {
            operation,
            key: key.map(str::to_owned),
            work,
        });
    }

    /// A state may begin before its future is polled, so that it is not even called too early.
    async fn pass<'a, T>(
        &self,
        operation: Operation,
        key: &str,
        run: impl FnOnce() -> BoxFuture<'a, Result<T, StateError>>,
    ) -> Result<T, StateError> {
        let first = {
            let firsts = &mut self.plan().firsts;
            let is_it = |first: &First| {
                first.operation == operation && first.key.as_deref().is_none_or(|it| it == key)
            };
            let at = firsts.iter().position(is_it);
            at.map(|at| firsts.remove(at))
        };
        if let Some(first) = first {
            first.work.await;
        }
        let fault = {
            let plan = self.plan();
            let mut faults = plan.faults.iter();
            faults.find(|(other, _)| *other == operation).copied()
        };
        match fault.map(|(_, fault)| fault) {
            None => run().await,
            Some(Fault::Fails(cause)) => Err(StateError::new(cause)),
            Some(Fault::LosesAnswers(cause)) => {
                run().await?;
                Err(StateError::new(cause))
            }
            Some(Fault::Hangs) => std::future::pending().await,
        }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State for Between {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        let run = move || self.state.claim(key, until);
        Box::pin(self.pass(Operation::Claim, key, run))
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        let run = move || self.state.read(key, known);
        Box::pin(self.pass(Operation::Read, key, run))
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        let run = move || self.state.write(key, expected, value);
        Box::pin(self.pass(Operation::Write, key, run))
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan();
        f.debug_struct("Between")
            .field("faults", &plan.faults)
            .field("waiting", &plan.firsts.len())
            .finish_non_exhaustive()
    }
}
