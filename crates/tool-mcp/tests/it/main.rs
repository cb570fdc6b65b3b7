//! The crate's tests, by subject.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, a fixture writes to its streams, and which of it is compiled depends on features"
)]

/// Servers and clients to test against.
mod support;

/// What the server for the official suite is made of.
#[path = "../../examples/conformance/inputs.rs"]
mod inputs;
#[path = "../../examples/conformance/media.rs"]
mod media;
#[path = "../../examples/conformance/offers.rs"]
mod offers;
#[path = "../../examples/conformance/registry.rs"]
mod registry;
#[path = "../../examples/conformance/tools.rs"]
mod tools;

/// Calls that need a person's word.
mod approvals;
/// What is said beside calls, results and definitions.
#[cfg(feature = "http-client")]
mod beside;
/// What calls leave to be cleaned up.
mod cleaning;
/// Tokens of clients that are kept, added and revoked.
#[cfg(feature = "http")]
mod client_tokens;
/// The configuration of servers.
#[cfg(feature = "child")]
mod config;
/// The scenarios of the official suite, through a gateway.
#[cfg(all(feature = "child", unix))]
mod conformance_gateway;
/// The scenarios of the official suite, over streams.
mod conformance_streams;
/// What becomes of a client, of its calls, and of what it is told.
mod connections;
/// Importing and serving at once.
#[cfg(all(feature = "child", unix))]
mod gateway;
/// Servers that end and are connected again.
#[cfg(all(feature = "child", unix))]
mod import_again;
/// What counts as an answer of an imported tool.
#[cfg(feature = "http-client")]
mod import_answers;
/// Calls of imported tools.
#[cfg(all(feature = "child", unix))]
mod import_calls;
/// Calls that do not run beside each other.
#[cfg(all(feature = "child", unix))]
mod import_classes;
/// What servers declare of their tools.
#[cfg(all(feature = "http", feature = "http-client"))]
mod import_declared;
/// The two eras of the protocol.
#[cfg(all(feature = "child", unix))]
mod import_eras;
/// Results to the last digit.
#[cfg(all(feature = "child", unix))]
mod import_exact;
/// Servers that send too much.
#[cfg(all(feature = "child", unix))]
mod import_floods;
/// Servers that misbehave.
#[cfg(all(feature = "child", unix))]
mod import_hostile;
/// Servers over HTTP.
#[cfg(feature = "http-client")]
mod import_http;
/// What servers need and a client lacks.
#[cfg(all(feature = "child", unix))]
mod import_lacking;
/// Limits on how many calls there may be.
#[cfg(all(feature = "child", unix))]
mod import_limits;
/// Lists of imported tools.
#[cfg(all(feature = "child", unix))]
mod import_lists;
/// What servers have beside tools.
#[cfg(all(feature = "child", unix))]
mod import_offers;
/// What the operator sets for servers and tools.
#[cfg(all(feature = "child", unix))]
mod import_overlay;
/// What is kept of calls while their client is about to call again.
#[cfg(all(feature = "child", unix))]
mod import_parked;
/// Servers that are not what they were when they were trusted.
#[cfg(all(feature = "child", unix))]
mod import_pins;
/// Servers that point elsewhere.
#[cfg(all(feature = "child", unix))]
mod import_pointing;
/// Processes of servers.
#[cfg(all(feature = "child", target_os = "linux"))]
mod import_processes;
/// Calls that take several rounds with the client.
#[cfg(all(feature = "child", unix))]
mod import_rounds;
/// Servers that are asked too often.
#[cfg(feature = "http-client")]
mod import_throttled;
/// Time limits on calls.
#[cfg(all(feature = "child", unix))]
mod import_time;
/// Whose login is used for what.
#[cfg(all(feature = "oauth", feature = "http"))]
mod login_bounds;
/// Logins that are ended.
#[cfg(feature = "oauth")]
mod login_ends;
/// Logging in to servers.
#[cfg(feature = "oauth")]
mod login_flow;
/// Tokens that end, and new ones in their place.
#[cfg(feature = "oauth")]
mod login_renewals;
/// What of a login is seen where.
#[cfg(feature = "oauth")]
mod login_secrets;
/// Logins that are refused, as going on would not be safe.
#[cfg(feature = "oauth")]
mod login_unsafe;
/// Logins of servers that are connected and called.
#[cfg(feature = "oauth")]
mod login_upstreams;
/// The protocol library's own client.
mod other_client;
/// What an operator can set for servers and tools.
#[cfg(feature = "child")]
mod overlay;
/// What was trusted, and what changed since.
mod pins;
/// What is told of retained output.
mod retained;
/// Serving over HTTP.
#[cfg(feature = "http")]
mod serve_http;
/// Serving over HTTP what panics.
#[cfg(feature = "http")]
mod serve_panics;
/// What is on record of calls that clients make.
mod serve_records;
/// How much clients may have going on at once over HTTP.
#[cfg(feature = "http")]
mod serve_room;
/// What is answered over streams.
mod serve_streams;
/// Who is served over HTTP.
#[cfg(feature = "http")]
mod tokens;

/// This very program, run again by the other tests, is the server that they import.
#[cfg(all(feature = "child", unix))]
#[test]
fn is_a_server_when_it_is_told_to_be() {
    support::fixture::serve_if_told();
}
