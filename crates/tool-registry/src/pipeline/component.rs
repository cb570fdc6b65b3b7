//! Within stage 6: what a question shows.

use std::pin::pin;

use serde_json::Value;
use tool_core::{
    ArtifactErrorKind, Artifacts, CheckIn, Component, ComponentFault, ErrorChain, Outcome, Refusal,
};

use super::{Ended, Run};
use crate::within::within;

/// The component of a check-in, once what it shows is known to be there. Nobody is asked about
/// something that he cannot see.
pub(super) async fn shown(
    run: &Run<'_>,
    check_in: &CheckIn,
    input: &Value,
) -> Result<Option<Component>, Ended> {
    let component = check_in.component_for(input);
    let component = component.map_err(|fault| refused(fault, None))?;
    let named = component.as_ref();
    if let Some(reference) = named.and_then(|one| one.props_ref.as_deref()) {
        look(run, reference).await?;
    }
    Ok(component)
}

/// Makes sure that an artifact is there, for whoever calls.
async fn look(run: &Run<'_>, reference: &str) -> Result<(), Ended> {
    // As the handler itself would ask for it, which is told.
    let artifacts = Artifacts::of(Some(&**run.host), run.facts);
    let head = pin!(artifacts.head(reference));
    match within(run.services.gate_timeout, head).await {
        Some(Ok(Some(_))) => Ok(()),
        Some(Ok(None)) => Err(refused(ComponentFault::Unresolved, None)),
        Some(Err(error)) => {
            let fault = match error.kind() {
                ArtifactErrorKind::NoStore => ComponentFault::NoStore,
                _ => ComponentFault::Store,
            };
            Err(refused(fault, Some(ErrorChain::of(&error).to_string())))
        }
        None => {
            let late = "the store did not answer in time".to_owned();
            Err(refused(ComponentFault::Store, Some(late)))
        }
    }
}

fn refused(fault: ComponentFault, operator: Option<String>) -> Ended {
    Box::new(Outcome::Refused(Refusal::Component { fault, operator }))
}
