//! Identifiers that the host supplies and the runtime only carries.

use std::fmt;

use ecow::EcoString;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// The text is the host's own and is carried unchanged; nothing is ever derived from it.
        /// Clones are cheap.
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(EcoString);

        impl $name {
            /// Wraps the host's own text.
            #[inline]
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(EcoString::from(text.as_ref()))
            }

            /// The text exactly as the host gave it.
            #[inline]
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            #[inline]
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), self.as_str())
            }
        }
    };
}

id!(
    /// One conversation or connection of the host.
    SessionId
);
id!(
    /// The agent on whose behalf a call is made.
    AgentId
);
id!(
    /// The assistant message that holds a call.
    MessageId
);
id!(
    /// One call, as the provider named it.
    CallId
);
id!(
    /// One run of the host, from its start to its end, across suspensions.
    RunId
);
