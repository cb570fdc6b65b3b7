//! Stage 7: references to artifacts become data.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_core::{
    ArtifactKind, ArtifactStore as _, EventKind, NoArtifacts, Outcome, Prepared, Refusal, Stage,
    Validation,
};

use super::Run;
use crate::Entry;
use crate::validator::type_name;

/// Arguments whose reference gave way to its data.
pub(super) struct Redeemed {
    pub(super) wanted: BTreeMap<String, ArtifactKind>,
}

/// Redeems what the tool wants, if anything. All arguments are judged before one combined refusal.
///
/// What is prepared then holds the data; the input stays as it was spoken, references and all.
pub(super) async fn redeem(
    run: &Run<'_>,
    entry: &Entry,
    input: &Value,
    prepared: &mut Box<dyn Prepared>,
) -> Result<Option<Box<Redeemed>>, Outcome> {
    run.stage(Stage::Artifacts);
    let wants = &entry.tool().declarations().wants;
    if wants.is_empty() {
        return Ok(None);
    }
    if !run.door.redeems_artifacts() {
        return Err(Outcome::Refused(Refusal::Door {
            declaration: "wants",
        }));
    }

    let (mut resolved, mut wanted) = (input.clone(), BTreeMap::new());
    let (mut issues, mut operator) = (Vec::new(), None);
    for (argument, kind) in wants {
        let told = issues.len();
        let reference = match spoken_reference(entry, input, argument) {
            Ok(Some(reference)) => reference,
            Ok(None) => continue,
            Err(what) => {
                issues.push(format!("{argument} must be a reference, got {what}"));
                tell(run, argument, kind, false);
                continue;
            }
        };
        let found = match &run.services.artifacts {
            Some(artifacts) => artifacts.get(run.facts, reference).await,
            None => NoArtifacts.get(run.facts, reference).await,
        };
        match found {
            Ok(Some(artifact)) if artifact.kind == *kind => {
                if let Some(slot) = resolved.get_mut(argument) {
                    *slot = artifact.data;
                }
                wanted.insert(argument.clone(), kind.clone());
            }
            Ok(Some(artifact)) => {
                issues.push(format!("{argument} must be {kind}, got {}", artifact.kind));
            }
            Ok(None) => issues.push(format!(
                "{argument} names nothing that is there; it must be {kind}"
            )),
            Err(error) => {
                issues.push(format!(
                    "{argument} could not be looked up; do not try again"
                ));
                operator = Some(chain(&error));
            }
        }
        tell(run, argument, kind, issues.len() == told);
    }
    if !issues.is_empty() {
        return Err(Outcome::Refused(Refusal::Artifact { issues, operator }));
    }
    *prepared = entry
        .tool()
        .executor()
        .prepare(&resolved)
        .map_err(|invalid| Outcome::Refused(Refusal::InvalidArguments(invalid)))?;
    Ok(Some(Box::new(Redeemed { wanted })))
}

/// The reference that an argument names; nothing where it is left out, and may be. A null that the
/// schema takes leaves it out as well.
fn spoken_reference<'i>(
    entry: &Entry,
    input: &'i Value,
    argument: &str,
) -> Result<Option<&'i str>, &'static str> {
    let unchecked = entry.tool().validates() == Validation::Advertise;
    match input.get(argument) {
        None if unchecked && is_required(entry, argument) => Err("nothing"),
        None => Ok(None),
        Some(Value::Null) if !unchecked => Ok(None),
        Some(Value::String(reference)) if !reference.trim().is_empty() => Ok(Some(reference)),
        Some(Value::String(_)) => Err("blank text"),
        Some(other) => Err(type_name(other)),
    }
}

fn is_required(entry: &Entry, argument: &str) -> bool {
    let required = entry.tool().input().as_value().get("required");
    let required = required.and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|key| key == argument))
}

fn tell(run: &Run<'_>, argument: &str, kind: &ArtifactKind, redeemed: bool) {
    run.tell(|| EventKind::Artifact {
        argument,
        kind,
        redeemed,
    });
}

/// An error and all its causes, for operators.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
