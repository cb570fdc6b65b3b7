//! Who made a request.

use tool_core::SessionId;

use crate::serve::CallingClient;

/// Who made a request, as far as that decides who answers what the server asks meanwhile.
#[derive(Clone, Debug)]
pub(crate) enum Whose {
    /// The host itself.
    Host,
    /// A client with a session.
    Session(SessionId),
    /// A client that cannot be told from another.
    Somebody,
}

impl Whose {
    /// The client whose call is being served by this task, or the host.
    pub(crate) fn current() -> Self {
        match CallingClient::current() {
            None => Self::Host,
            Some(client) => match client.session() {
                Some(session) => Self::Session(session.clone()),
                None => Self::Somebody,
            },
        }
    }

    /// Whether it is known that both are the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host, Self::Host) => true,
            (Self::Session(one), Self::Session(other)) => one == other,
            _ => false,
        }
    }
}
