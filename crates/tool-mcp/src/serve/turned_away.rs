//! Calls that end before they begin.

use tool_core::{Call, Facts, Refusal};

use super::params::Params;
use super::server::Served;
use crate::wire::{Id, RpcError};

/// Has a call on record that did not begin, as the request that brought it was turned away with an
/// error: whoever receives events learns of it as of any other call. Nothing for any other method.
/// Without parameters, as they could not be read, what was called is not known.
pub(crate) fn record(
    served: &Served,
    facts: &Facts,
    (id, method): (&Id, &str),
    params: Option<&Params>,
    error: &RpcError,
) {
    let because = error.message.clone();
    refuse(
        served,
        facts,
        (id, method),
        params,
        Refusal::Request { because },
    );
}

/// The same for another reason.
pub(crate) fn refuse(
    served: &Served,
    facts: &Facts,
    (id, method): (&Id, &str),
    params: Option<&Params>,
    refusal: Refusal,
) {
    if method != "tools/call" {
        return;
    }
    let name = params.and_then(|params| params.name.as_deref());
    let arguments = params.and_then(|params| params.arguments.as_deref());
    let arguments = arguments.map_or("", |arguments| arguments.get());
    let call = Call::new(name.unwrap_or_default(), arguments).id(id.to_string());
    served.registry.snapshot().refuse(call, facts, refusal);
}
