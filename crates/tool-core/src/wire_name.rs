//! Names as providers and clients see them.

use std::fmt;
use std::sync::Arc;

use crate::{Digest, Identity};

const MAX_CHARS: usize = 64;
const SEPARATOR: &str = "__";
/// `-x` and 12 hexadecimal digits: 48 bits of the identity's digest.
const TAIL_DIGITS: usize = 12;
const TAIL_MARK: &str = "-x";

/// The name under which a tool is advertised and called.
///
/// It matches `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, the common denominator of the model providers, and
/// is a function of the tool's [`Identity`] alone: what else is registered, and in which order,
/// changes nothing. A name that is legal as authored stays as it is, a namespace is joined with
/// `__`. A name that had to be changed, that holds the separator itself, that looks like a changed
/// one, or that would be too long, ends with a tail made of the digest of the whole identity, so
/// that two identities do not meet.
///
/// Look names up by table; never split them.
///
/// ```
/// use tool_core::{Identity, Namespace, Source, ToolName, WireName};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let acme = Source::Plugin(Namespace::new("acme")?);
/// let wire = WireName::of(&Identity::new(&acme, ToolName::new("echo")?));
/// assert_eq!(wire.as_str(), "acme__echo");
///
/// let dotted = WireName::of(&Identity::new(&Source::Host, ToolName::new("db.query")?));
/// assert!(dotted.as_str().starts_with("db_query-x"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WireName(Arc<str>);

impl WireName {
    /// The wire name of an identity.
    #[must_use]
    pub fn of(identity: &Identity) -> Self {
        let name = identity.name().as_str();
        let plain = match identity.namespace() {
            Some(namespace) => {
                let namespace = namespace.as_str();
                let joined = format!("{namespace}{SEPARATOR}{name}");
                // An underscore beside the separator would leave open where it begins.
                let clear = !namespace.ends_with('_')
                    && !name.starts_with('_')
                    && !namespace.contains(SEPARATOR)
                    && !name.contains(SEPARATOR);
                (joined, clear)
            }
            None => (name.to_owned(), !name.contains(SEPARATOR)),
        };
        let (joined, clear) = plain;
        if clear && is_legal(&joined) && !has_tail(&joined) {
            return Self(joined.into());
        }
        Self(with_tail(&joined, identity).into())
    }

    /// A name that is legal as it is; `None` for one that a provider would refuse.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        is_legal(name).then(|| Self(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_legal(name: &str) -> bool {
    name.len() <= MAX_CHARS
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_wire_char)
}

fn is_wire_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn has_tail(name: &str) -> bool {
    name.rsplit_once(TAIL_MARK).is_some_and(|(_, digits)| {
        digits.len() == TAIL_DIGITS && digits.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
    })
}

fn with_tail(joined: &str, identity: &Identity) -> String {
    // The parts are told apart by their lengths, so no choice of characters makes two identities
    // digest alike.
    let namespace = identity.namespace().map(|namespace| namespace.as_str());
    let name = identity.name().as_str();
    let digest = Digest::of_parts(&[
        if namespace.is_some() {
            "namespaced"
        } else {
            "plain"
        },
        namespace.unwrap_or_default(),
        name,
    ]);
    let tail: String = digest.hex().chars().take(TAIL_DIGITS).collect();

    let mut wire = String::with_capacity(MAX_CHARS);
    if !joined.starts_with(|c: char| c.is_ascii_alphabetic()) {
        wire.push('t');
    }
    let room = MAX_CHARS - TAIL_MARK.len() - TAIL_DIGITS;
    for c in joined.chars() {
        if wire.len() == room {
            break;
        }
        wire.push(if is_wire_char(c) { c } else { '_' });
    }
    wire.push_str(TAIL_MARK);
    wire.push_str(&tail);
    wire
}

impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireName({:?})", &*self.0)
    }
}

impl std::borrow::Borrow<str> for WireName {
    fn borrow(&self) -> &str {
        &self.0
    }
}
