//! Stage 7: references to artifacts become data.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_core::{ArtifactKind, Outcome, Prepared, Refusal, Stage};

use super::Run;
use super::validate::Valid;
use crate::Entry;
use crate::validator::type_name;

/// Input whose references are redeemed.
pub(super) struct Redeemed {
    /// The arguments as they were spoken, references and all.
    pub(super) spoken: Value,
    /// The input that runs, with the data in place of the references.
    pub(super) prepared: Box<dyn Prepared>,
    pub(super) wanted: BTreeMap<String, ArtifactKind>,
}

/// Redeems what the tool wants. All arguments are judged before one combined refusal.
pub(super) async fn redeem(
    run: &Run<'_>,
    entry: &Entry,
    valid: Valid,
) -> Result<Redeemed, Outcome> {
    run.stage(Stage::Artifacts);
    let Valid { input, prepared } = valid;
    let wants = &entry.tool().declarations().wants;
    if wants.is_empty() {
        return Ok(Redeemed {
            spoken: input,
            prepared,
            wanted: BTreeMap::new(),
        });
    }
    if !run.door.redeems_artifacts() {
        return Err(Outcome::Refused(Refusal::Door {
            declaration: "wants",
        }));
    }

    let (mut resolved, mut wanted) = (input.clone(), BTreeMap::new());
    let (mut issues, mut operator) = (Vec::new(), None);
    for (argument, kind) in wants {
        let reference = match input.get(argument) {
            None => continue,
            Some(Value::String(reference)) if !reference.trim().is_empty() => reference,
            Some(Value::String(_)) => {
                issues.push(format!("{argument} must be a reference, got blank text"));
                continue;
            }
            Some(other) => {
                issues.push(format!(
                    "{argument} must be a reference, got {}",
                    type_name(other)
                ));
                continue;
            }
        };
        match run.services.artifacts.get(run.facts, reference).await {
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
    }
    if !issues.is_empty() {
        return Err(Outcome::Refused(Refusal::Artifact { issues, operator }));
    }
    let prepared = entry
        .tool()
        .executor()
        .prepare(&resolved)
        .map_err(|invalid| Outcome::Refused(Refusal::InvalidArguments(invalid)))?;
    Ok(Redeemed {
        spoken: input,
        prepared,
        wanted,
    })
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
