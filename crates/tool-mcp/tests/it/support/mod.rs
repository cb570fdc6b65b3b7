//! Servers and clients to test against.

/// A client that answers whatever it is asked, in either era.
#[cfg(all(feature = "child", unix))]
pub(crate) mod agreeing;
/// A server that does as it is told, written by hand so that it can misbehave.
#[cfg(all(feature = "child", unix))]
pub(crate) mod fixture;
/// That server, imported and served on.
#[cfg(all(feature = "child", unix))]
pub(crate) mod gateway;
/// An HTTP client, written by hand so that every header is the test's.
#[cfg(feature = "http")]
pub(crate) mod http;
/// An HTTP server, written by hand.
#[cfg(feature = "http-client")]
pub(crate) mod http_server;
/// Importing that server.
#[cfg(all(feature = "child", unix))]
pub(crate) mod imported;
/// A process whose servers want a login.
#[cfg(feature = "oauth")]
pub(crate) mod login_gateway;
/// A server that wants to know who calls, and where to log in to it.
#[cfg(feature = "oauth")]
pub(crate) mod login_site;
/// The ways in which that server misbehaves on purpose.
#[cfg(all(feature = "child", unix))]
pub(crate) mod misbehaving;
/// A client over streams, written by hand.
pub(crate) mod peer;
/// A person who logs in.
#[cfg(feature = "oauth")]
pub(crate) mod person;
/// A server that points elsewhere wherever it can.
#[cfg(all(feature = "child", unix))]
pub(crate) mod pointing;
/// A registry that allows everything, with tools to serve.
pub(crate) mod registry;
/// That registry, and a server that offers it.
pub(crate) mod served;
/// What an operator is warned of.
#[cfg(feature = "child")]
pub(crate) mod warnings;

use std::time::{Duration, Instant};

/// Waits until something holds, however fast the machine is, and fails after a minute.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "never came true: {what}");
        // Blocks on purpose: the clock of the runtime may be stopped.
        std::thread::sleep(Duration::from_millis(2));
        tokio::task::yield_now().await;
    }
}
