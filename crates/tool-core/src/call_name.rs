//! The name by which a tool is called.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use ecow::EcoString;

/// The name by which a tool is called, exactly as the caller spelled it.
///
/// Any text: whether there is such a tool is for the catalogue to say. It reads like a `str`, and a
/// name of up to 15 bytes is held in place.
///
/// ```
/// use tool_core::CallName;
///
/// let name = CallName::from("grep");
/// assert_eq!(name, "grep");
/// assert!(name.starts_with('g'));
/// ```
#[derive(
    Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct CallName(EcoString);

impl CallName {
    /// The name as it was spelled.
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for CallName {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for CallName {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for CallName {
    #[inline]
    fn from(name: &str) -> Self {
        Self(EcoString::from(name))
    }
}

impl From<&String> for CallName {
    fn from(name: &String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<String> for CallName {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<Cow<'_, str>> for CallName {
    fn from(name: Cow<'_, str>) -> Self {
        Self::from(&*name)
    }
}

impl From<CallName> for String {
    fn from(name: CallName) -> Self {
        name.as_str().to_owned()
    }
}

impl PartialEq<str> for CallName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for CallName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for CallName {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<CallName> for str {
    fn eq(&self, other: &CallName) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<CallName> for &str {
    fn eq(&self, other: &CallName) -> bool {
        *self == other.as_str()
    }
}

impl PartialEq<CallName> for String {
    fn eq(&self, other: &CallName) -> bool {
        self == other.as_str()
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Debug for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallName({:?})", self.as_str())
    }
}
