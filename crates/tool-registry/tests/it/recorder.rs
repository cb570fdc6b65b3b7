//! Writes down what a registry tells of its calls.

use std::sync::{Arc, Mutex};

use tool_core::{Event, EventKind, Stage};

/// What was told, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Told>>>);

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// The id of the call, or nothing.
    pub(crate) call: Option<String>,
    /// The tool, as the event named it.
    pub(crate) tool: String,
    /// The stage that began, if that is what was told.
    pub(crate) stage: Option<Stage>,
    /// The word of the outcome, if the call was settled.
    pub(crate) settled: Option<&'static str>,
    /// The event as a log would print it.
    pub(crate) printed: String,
}

impl Recorder {
    /// The receiving end, for the registry.
    pub(crate) fn sink(&self) -> impl Fn(&Event<'_>) + Send + Sync + 'static {
        let told = Arc::clone(&self.0);
        move |event: &Event<'_>| {
            let (stage, settled) = match &event.kind {
                EventKind::Stage(stage) => (Some(*stage), None),
                EventKind::Settled(settlement) => (None, Some(settlement.outcome.as_str())),
                _ => (None, None),
            };
            told.lock().unwrap().push(Told {
                call: event.call.map(ToString::to_string),
                tool: event.tool.to_owned(),
                stage,
                settled,
                printed: format!("{event:?}"),
            });
        }
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.0.lock().unwrap().clone()
    }

    /// The stages of all calls, in the order in which they began.
    pub(crate) fn stages(&self) -> Vec<Stage> {
        self.told()
            .into_iter()
            .filter_map(|told| told.stage)
            .collect()
    }

    /// The stages as one line.
    pub(crate) fn line(&self) -> String {
        let names: Vec<_> = self.stages().into_iter().map(Stage::as_str).collect();
        names.join(" ")
    }

    /// The stages of one call.
    pub(crate) fn stages_of(&self, call: &str) -> Vec<Stage> {
        self.told()
            .into_iter()
            .filter(|told| told.call.as_deref() == Some(call))
            .filter_map(|told| told.stage)
            .collect()
    }

    /// How often a settlement was told.
    pub(crate) fn settlements(&self) -> usize {
        self.told()
            .iter()
            .filter(|told| told.settled.is_some())
            .count()
    }
}
