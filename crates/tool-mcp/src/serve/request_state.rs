//! What a client without a handshake carries from one round of a call to the next.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool_core::{Facts, ResumeFault, Suspension};

/// How long a round may take. A suspension ends when the registry says so, and never later.
const LIFE: Duration = Duration::from_secs(60 * 60);
/// Bytes of the nonce, which stands ahead of the text.
const NONCE: usize = 24;
/// The longest state, as text: of those that are made, and of those that are looked at.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;

/// Closes and opens the states of one server. What is in one is nobody's to read or to change but
/// the server's.
#[derive(Clone)]
pub(crate) struct StateKey([u8; 32]);

/// What a call has to go on from.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RequestState {
    /// Answers of earlier rounds.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) answers: Map<String, Value>,
    /// Where what was begun goes on: questions of imported servers.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) kept: Map<String, Value>,
    /// The call that waits for a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) suspension: Option<Box<Suspension>>,
    pub(crate) expires_at_ms: u64,
}

/// Why a state cannot be made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unclosed {
    /// It would have so many bytes.
    TooLong(usize),
    /// The system gives no random bytes.
    Broken,
}

/// What a state is bound to: it is good for the same request of the same caller, and no other.
pub(crate) struct Bound<'a> {
    pub(crate) method: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) facts: &'a Facts,
}

impl StateKey {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A fresh key, good in this process. `None` when the system gives no random bytes.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// The text of a state, for the client to carry.
    pub(crate) fn close(
        &self,
        mut state: RequestState,
        bound: &Bound<'_>,
    ) -> Result<String, Unclosed> {
        let life = u64::try_from(LIFE.as_millis()).unwrap_or(u64::MAX);
        state.expires_at_ms = now_ms().saturating_add(life);
        let text = self.sealed(&state, bound).ok_or(Unclosed::Broken)?;
        match text.len() {
            // It would not be looked at when it comes back.
            bytes if bytes > MOST_BYTES => Err(Unclosed::TooLong(bytes)),
            _ => Ok(text),
        }
    }

    fn sealed(&self, state: &RequestState, bound: &Bound<'_>) -> Option<String> {
        let plain = serde_json::to_vec(state).ok()?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let digest = bound.digest();
        let payload = Payload {
            msg: &plain,
            aad: digest.as_bytes(),
        };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload).ok()?;
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed);
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Opens what a client brings back.
    ///
    /// # Errors
    /// [`ResumeFault::Forged`] for what is not this server's or not for this request, and
    /// [`ResumeFault::Expired`] for what is too old.
    pub(crate) fn open(&self, text: &str, bound: &Bound<'_>) -> Result<RequestState, ResumeFault> {
        let state = self.opened(text, bound).ok_or(ResumeFault::Forged)?;
        match now_ms() < state.expires_at_ms {
            true => Ok(state),
            false => Err(ResumeFault::Expired),
        }
    }

    fn opened(&self, text: &str, bound: &Bound<'_>) -> Option<RequestState> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let digest = bound.digest();
        let payload = Payload {
            msg: sealed,
            aad: digest.as_bytes(),
        };
        let plain = self.cipher().decrypt(&XNonce::from(nonce), payload).ok()?;
        serde_json::from_slice(&plain).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

impl Bound<'_> {
    fn digest(&self) -> String {
        let facts = self.facts;
        let caller =
            serde_json::json!([facts.session_id(), facts.agent_id(), facts.identification(),]);
        // A client may write the same arguments otherwise; text that is no JSON stands for itself.
        let arguments = serde_json::from_str::<Value>(self.arguments).map_or_else(
            |_| self.arguments.to_owned(),
            |arguments| tool_core::canonical_json(&arguments),
        );
        let caller = caller.to_string();
        tool_core::Digest::of_parts(&[self.method, self.name, &arguments, &caller]).hex()
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
