//! What a call and its handler tell each other.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::{ArtifactKind, Cancellation, Credential, Loss, Refusal, Retained};

/// What a call and its handler tell each other while it runs. Each [host](crate::CallHost) of a
/// call holds one, so that a call needs no object beside it.
#[derive(Default)]
pub struct CallState {
    granted: OnceLock<Box<Granted>>,
    /// Made when somebody asks for it.
    cancellation: OnceLock<Cancellation>,
    refusal: OnceLock<Box<Refusal>>,
    loss: OnceLock<Box<Loss>>,
    retained: OnceLock<Box<Mutex<Vec<Retained>>>>,
    settled: AtomicBool,
    asserted: AtomicBool,
}

/// What was acquired for the handler. Few calls have any.
struct Granted {
    credential: Option<Credential>,
    wanted: Option<BTreeMap<String, ArtifactKind>>,
}

impl CallState {
    /// Grants the handler, before it runs, the credential that was acquired and the kinds of the
    /// artifacts that were redeemed, by argument. The first grant stays.
    pub fn grant(
        &self,
        credential: Option<Credential>,
        wanted: Option<BTreeMap<String, ArtifactKind>>,
    ) {
        if credential.is_some() || wanted.is_some() {
            let _ = self.granted.set(Box::new(Granted { credential, wanted }));
        }
    }

    /// Ends progress: what the handler reports from now on goes nowhere.
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }

    /// Gives the handler's cancellation. Who asks for it from now on finds it given.
    pub fn cancel(&self) {
        let given = self.cancellation.get_or_init(Cancellation::given);
        given.cancel();
    }

    /// Whether anybody has asked for the cancellation.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.cancellation.get().is_some()
    }

    /// The first refusal that an assertion of the handler met. It stands whatever the handler
    /// made of it.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.get().map(|refusal| &**refusal)
    }

    /// What the handler reported to have left out, the first time.
    #[must_use]
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.get().map(|loss| &**loss)
    }

    /// Takes out what the handler's [stream](crate::OutputStream) has retained, for the settlement
    /// to name. What the host does not take out, nobody learns of.
    #[must_use]
    pub fn take_retained(&self) -> Vec<Retained> {
        self.retained.get().map_or_else(Vec::new, |retained| {
            let mut retained = retained.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *retained)
        })
    }

    /// Whether an assertion of the handler was granted.
    #[must_use]
    pub fn asserted(&self) -> bool {
        self.asserted.load(Ordering::Acquire)
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
        self.cancellation.get_or_init(Cancellation::new)
    }

    pub(crate) fn credential(&self) -> Option<&Credential> {
        self.granted.get()?.credential.as_ref()
    }

    pub(crate) fn wanted(&self, argument: &str) -> Option<&ArtifactKind> {
        self.granted.get()?.wanted.as_ref()?.get(argument)
    }

    pub(crate) fn note_assertion(&self) {
        self.asserted.store(true, Ordering::Release);
    }

    pub(crate) fn note_loss(&self, loss: Loss) {
        // The first stays.
        let _ = self.loss.set(Box::new(loss));
    }

    pub(crate) fn note_retained(&self, retained: Retained) {
        let noted = self.retained.get_or_init(Box::default);
        noted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(retained);
    }

    pub(crate) fn note_refusal(&self, refusal: Refusal) {
        // The first stays.
        let _ = self.refusal.set(Box::new(refusal));
    }
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallState(..)")
    }
}
