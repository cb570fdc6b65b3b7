//! Making suspensions that cannot be forged.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tool_core::{Suspension, canonical_json};

/// The key that seals suspensions. It is never printed.
///
/// Processes that are to resume each other's suspensions need the same key, and a
/// [`State`](tool_core::State) that they share.
///
/// ```
/// use tool_registry::{Registry, SealKey};
///
/// # fn secret() -> [u8; 32] { [0; 32] }
/// let registry = Registry::builder().seal_key(SealKey::new(secret())).build();
/// # let _ = registry;
/// ```
#[derive(Clone)]
pub struct SealKey([u8; 32]);

impl SealKey {
    /// A key of 32 secret bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A fresh key, so that suspensions are good in this process only. `None` when the system
    /// gives no random bytes.
    #[must_use]
    pub fn random() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// Seals a suspension.
    pub(crate) fn seal(&self, suspension: &mut Suspension) {
        suspension.seal.clear();
        let tag = self.tag(suspension).finalize().into_bytes();
        suspension.seal = hex(&tag);
    }

    /// Whether the seal is this key's over exactly this suspension. Takes as long for a wrong seal
    /// as for a right one.
    pub(crate) fn is_intact(&self, suspension: &Suspension) -> bool {
        let Some(seal) = unhex(&suspension.seal) else {
            return false;
        };
        let mut unsealed = suspension.clone();
        unsealed.seal.clear();
        self.tag(&unsealed).verify_slice(&seal).is_ok()
    }

    fn tag(&self, suspension: &Suspension) -> Hmac<Sha256> {
        // A suspension is plain data; one that had no JSON form would seal as null and never open
        // as anything else.
        let data = serde_json::to_value(suspension).unwrap_or(Value::Null);
        // A short key is padded with zeros: that is how the algorithm takes one.
        let mut block = [0; 64];
        block
            .iter_mut()
            .zip(self.0)
            .for_each(|(to, from)| *to = from);
        let mut tag = Hmac::<Sha256>::new(&block.into());
        tag.update(canonical_json(&data).as_bytes());
        tag
    }
}

/// An unguessable id of 128 bits. `None` when the system gives no random bytes.
pub(crate) fn fresh_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("sus_{}", hex(&bytes)))
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}
