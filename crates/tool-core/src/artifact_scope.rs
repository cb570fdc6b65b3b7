//! Whose artifacts are whose.

use crate::{Digest, Facts};

/// Those who see each other's artifacts: the same identity in the same conversation.
///
/// Each half counts as the host gave it, an absent one being absent and no blank one. The
/// conversation is the session, and where there is none the run. Two scopes are equal exactly when
/// all of that is.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactScope(Digest);

impl ArtifactScope {
    /// The scope of a caller.
    ///
    /// ```
    /// use tool_core::{ArtifactScope, Facts};
    ///
    /// let one = ArtifactScope::of(&Facts::new().session("s1"));
    /// assert_eq!(one, ArtifactScope::of(&Facts::new().session("s1").agent("any")));
    /// assert_ne!(one, ArtifactScope::of(&Facts::new().run("s1")));
    /// ```
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let identity = facts.identification();
        let conversation = match (facts.session_id(), facts.run_id()) {
            (Some(session), _) => [Some("session"), Some(session.as_str())],
            (None, Some(run)) => [Some("run"), Some(run.as_str())],
            (None, None) => [None, None],
        };
        let [sort, conversation] = conversation;
        let halves = [
            identity.and_then(|identity| identity.tenant.as_deref()),
            identity.and_then(|identity| identity.principal.as_deref()),
            sort,
            conversation,
        ];
        // A word for presence goes first, so that an absent half differs from every present one.
        let parts: Vec<&str> = halves
            .into_iter()
            .flat_map(|half| [if half.is_some() { "1" } else { "0" }, half.unwrap_or("")])
            .collect();
        Self(Digest::of_parts(&parts))
    }

    /// The scope of that [key](Self::key), for a store that finds keys among what it keeps.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Digest::from_hex(key).map(Self)
    }

    /// A name for it of 64 lower-case hexadecimal digits, fit for files and keys on any system. It
    /// tells nothing of tenant, principal or session.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.hex()
    }
}

impl std::fmt::Debug for ArtifactScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ArtifactScope(..)")
    }
}
