//! Tests of the definition model, through the public API.
//!
//! - `approvals`: whose leave a tool wants
//! - `cancellation`: the signal that nobody waits
//! - `compile_fail`: what does not compile, with what the compiler says
//! - `context`: what a handler is given
//! - `declarations`: what cannot be honoured is refused by name
//! - `definition`: what is advertised, byte for byte
//! - `digest`: the canonical form and its digest
//! - `executors`: from JSON through a closure to JSON
//! - `forwarding`: shared ports forward every method
//! - `handler_error`: the one conversion of errors
//! - `names`: names as authored
//! - `outcomes`: how calls end, as words that stay
//! - `output`: a result that is a value for whoever asks
//! - `permission`: policy and approver together
//! - `schema`: schemas of types, and their bounds
//! - `sizes`: bounds and pages
//! - `texts`: what models and operators read
//! - `wire_names`: legal, injective, and a function of the identity alone

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod approvals;
mod cancellation;
mod compile_fail;
mod context;
mod declarations;
mod definition;
mod digest;
mod executors;
mod forwarding;
mod handler_error;
mod names;
mod outcomes;
mod output;
mod permission;
mod plain;
mod schema;
mod sizes;
mod texts;
mod wire_names;
