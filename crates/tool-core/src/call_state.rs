//! What a call and its handler tell each other.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::{ArtifactKind, Cancellation, Credential, Digest, Loss, Refusal, Retained};

/// What a call and its handler tell each other while it runs. Each [host](crate::CallHost) of a
/// call holds one, so that a call needs no object beside it.
#[derive(Default)]
pub struct CallState {
    /// Made by the first who has anything to say, as most calls have nothing.
    said: OnceLock<Box<Said>>,
    settled: AtomicBool,
    asserted: AtomicBool,
}

#[derive(Default)]
struct Said {
    granted: OnceLock<Granted>,
    /// Made when somebody asks for it.
    cancellation: OnceLock<Cancellation>,
    refusal: OnceLock<Refusal>,
    loss: OnceLock<Loss>,
    retained: Mutex<Vec<Retained>>,
    placed: OnceLock<Digest>,
}

/// What was acquired for the handler.
struct Granted {
    credential: Option<Credential>,
    wanted: Option<BTreeMap<String, ArtifactKind>>,
}

impl CallState {
    /// Grants the handler, before it runs, the credential that was acquired and the kinds of the
    /// artifacts that were redeemed, by argument. The first grant stays.
    #[inline]
    pub fn grant(
        &self,
        credential: Option<Credential>,
        wanted: Option<BTreeMap<String, ArtifactKind>>,
    ) {
        if credential.is_some() || wanted.is_some() {
            let granted = Granted { credential, wanted };
            let _ = self.said().granted.set(granted);
        }
    }

    /// Ends what the handler can do through its context: what it reports from now on goes nowhere,
    /// and artifacts and credentials are refused to it.
    #[inline]
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }

    /// Gives the handler's cancellation. Who asks for it from now on finds it given.
    pub fn cancel(&self) {
        let cancellation = &self.said().cancellation;
        cancellation.get_or_init(Cancellation::given).cancel();
    }

    /// Whether anybody has asked for the cancellation.
    #[inline]
    #[must_use]
    pub fn is_watched(&self) -> bool {
        let said = self.said.get();
        said.is_some_and(|said| said.cancellation.get().is_some())
    }

    /// The first refusal that an assertion of the handler met. It stands whatever the handler
    /// made of it.
    #[inline]
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.said.get()?.refusal.get()
    }

    /// What the handler reported to have left out, the first time.
    #[inline]
    #[must_use]
    pub fn loss(&self) -> Option<&Loss> {
        self.said.get()?.loss.get()
    }

    /// Takes out what the handler's [stream](crate::OutputStream) has retained, for the settlement
    /// to name. What the host does not take out, nobody learns of.
    #[inline]
    #[must_use]
    pub fn take_retained(&self) -> Vec<Retained> {
        let said = self.said.get();
        said.map_or_else(Vec::new, |said| std::mem::take(&mut *said.retained()))
    }

    /// Takes note of which text a ticket is shown, or which was truncated, for the hooks behind.
    pub fn note_placed(&self, text: Digest) {
        let _ = self.said().placed.set(text);
    }

    /// The digest of the text for which a ticket is shown, or that was truncated.
    #[must_use]
    pub fn placed(&self) -> Option<Digest> {
        self.said.get()?.placed.get().copied()
    }

    /// Whether an assertion of the handler was granted.
    #[inline]
    #[must_use]
    pub fn asserted(&self) -> bool {
        self.asserted.load(Ordering::Acquire)
    }

    /// Whether the handler has come to its end, or nobody waits for it any more.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
        self.said().cancellation.get_or_init(Cancellation::new)
    }

    pub(crate) fn credential(&self) -> Option<&Credential> {
        self.said.get()?.granted.get()?.credential.as_ref()
    }

    pub(crate) fn wanted(&self, argument: &str) -> Option<&ArtifactKind> {
        let granted = self.said.get()?.granted.get()?;
        granted.wanted.as_ref()?.get(argument)
    }

    pub(crate) fn note_assertion(&self) {
        self.asserted.store(true, Ordering::Release);
    }

    pub(crate) fn note_loss(&self, loss: Loss) {
        // The first stays.
        let _ = self.said().loss.set(loss);
    }

    pub(crate) fn note_retained(&self, retained: Retained) {
        self.said().retained().push(retained);
    }

    pub(crate) fn note_refusal(&self, refusal: Refusal) {
        // The first stays.
        let _ = self.said().refusal.set(refusal);
    }

    fn said(&self) -> &Said {
        self.said.get_or_init(Box::default)
    }
}

impl Said {
    fn retained(&self) -> MutexGuard<'_, Vec<Retained>> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallState(..)")
    }
}
