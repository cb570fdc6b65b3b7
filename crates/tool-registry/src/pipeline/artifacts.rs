//! Stage 7: references to artifacts become data.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde_json::Value;
use tool_core::{
    ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactMeta, ArtifactQuery, ErrorChain,
    EventKind, Outcome, Prepared, Refusal, Spoken, Stage, Validation,
};

use super::passage::Passage;
use super::{Ended, Run};
use crate::Entry;
use crate::validator::type_name;

/// Arguments whose reference gave way to its data.
pub(super) struct Redeemed {
    pub(super) wanted: BTreeMap<String, ArtifactKind>,
}

/// Redeems what the tool wants, if anything. All arguments are judged before one combined refusal.
///
/// What is prepared then holds the data; the input stays as it was spoken, references and all.
pub(super) fn redeem<'a, 'e>(
    run: &'a Run<'_>,
    entry: &'e Entry,
    input: &'a Spoken<'_>,
    prepared: &'a mut Box<dyn Prepared + 'e>,
) -> Passage<'a, Result<Option<Box<Redeemed>>, Ended>>
where
    'e: 'a,
{
    run.stage(Stage::Artifacts);
    if entry.tool().declarations().wants.is_empty() {
        return Passage::At(Ok(None));
    }
    Passage::after(move || find_all(run, entry, input, prepared))
}

async fn find_all<'e>(
    run: &Run<'_>,
    entry: &'e Entry,
    input: &Spoken<'_>,
    prepared: &mut Box<dyn Prepared + 'e>,
) -> Result<Option<Box<Redeemed>>, Ended> {
    let wants = &entry.tool().declarations().wants;
    if !run.door.redeems_artifacts() {
        let declaration = "wants";
        return Err(Outcome::Refused(Refusal::Door { declaration }).into());
    }

    let input = input.value();
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
        match find(run, reference, kind).await {
            Ok(Found::Data(data)) => {
                if let Some(slot) = resolved.get_mut(argument) {
                    *slot = data;
                }
                wanted.insert(argument.clone(), kind.clone());
            }
            Ok(Found::Other(other)) => {
                let live = live(run, kind).await;
                issues.push(format!("{argument} must be {kind}, got {other}{live}"));
            }
            Ok(Found::Nothing) => {
                let live = live(run, kind).await;
                issues.push(format!(
                    "{argument} names nothing that is there; it must be {kind}{live}"
                ));
            }
            Err(error) => {
                issues.push(match error.kind() {
                    ArtifactErrorKind::Integrity => {
                        format!("{argument} names data that was damaged; it must be made again")
                    }
                    _ => format!("{argument} could not be looked up; do not try again"),
                });
                operator = Some(ErrorChain::of(&error).to_string());
            }
        }
        tell(run, argument, kind, issues.len() == told);
    }
    if !issues.is_empty() {
        return Err(Outcome::Refused(Refusal::Artifact { issues, operator }).into());
    }
    *prepared = entry
        .tool()
        .executor()
        .prepare(&resolved)
        .map_err(|invalid| Outcome::Refused(Refusal::InvalidArguments(invalid)))?;
    Ok(Some(Box::new(Redeemed { wanted })))
}

/// What a reference came to.
enum Found {
    Data(Value),
    Other(ArtifactKind),
    Nothing,
}

/// Gets the data of a reference, if its kind is the one that is wanted.
async fn find(run: &Run<'_>, reference: &str, kind: &ArtifactKind) -> Result<Found, ArtifactError> {
    let store = run.host.store();
    // What is of another kind may be large, and is not read for that.
    match store.head(run.facts, reference).await? {
        None => return Ok(Found::Nothing),
        Some(meta) if meta.kind != *kind => return Ok(Found::Other(meta.kind)),
        Some(_) => {}
    }
    Ok(match store.get(run.facts, reference).await? {
        None => Found::Nothing,
        Some(artifact) if artifact.kind != *kind => Found::Other(artifact.kind),
        Some(artifact) => Found::Data(artifact.payload.into_value()),
    })
}

/// What there is of a kind, for a model that named something else. Nothing where that cannot be
/// told.
async fn live(run: &Run<'_>, kind: &ArtifactKind) -> String {
    let query = ArtifactQuery::new().limit(LISTED).kind(kind.clone());
    let Ok(page) = run.host.store().list(run.facts, query).await else {
        return String::new();
    };
    if page.artifacts.is_empty() {
        return "; there is none, produce one first".to_owned();
    }
    let listed: Vec<String> = page.artifacts.iter().map(listed).collect();
    let more = if page.next.is_some() {
        " and older ones"
    } else {
        ""
    };
    format!("; there are {}{more}", listed.join(", "))
}

fn listed(meta: &ArtifactMeta) -> String {
    let label = meta.label.iter().flat_map(|label| label.chars());
    let label: String = label.take(LABEL).flat_map(char::escape_debug).collect();
    let comma = if label.is_empty() { "" } else { ", " };
    format!("{} ({label}{comma}{} bytes)", meta.reference, meta.bytes)
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

/// The most artifacts that a refusal names for each argument.
const LISTED: NonZeroUsize = NonZeroUsize::new(10).unwrap();
/// The most characters of a label that it shows.
const LABEL: usize = 80;
