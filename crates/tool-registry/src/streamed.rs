//! The text of a call that its handler hands on while it makes it.

use tool_core::{Bound, Bounding, OutputSink, Retention, StoreError};

use crate::contained::contained;
use crate::host::Host;

impl Host {
    /// The bound over which the text of the call is kept. None where it is placed, refused over a
    /// ceiling, shown whole or kept nowhere: then it is measured whole.
    pub(crate) fn streams_over(&self) -> Option<Bound> {
        let services = self.snapshot.services();
        services.outputs.as_ref()?;
        if !self.door.bounds_text() || services.placement.is_some() {
            return None;
        }
        let declarations = self.entry()?.tool().declarations();
        match declarations.bounding {
            _ if declarations.ceiling.is_some() => None,
            Bounding::Inherit => Some(services.bound()),
            Bounding::Within(bound) => Some(bound),
            _ => None,
        }
    }

    pub(crate) fn stream(&self, bound: Bound) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        let outputs = self.snapshot.services().outputs.as_ref();
        let (Some(outputs), Some(entry)) = (outputs, self.entry()) else {
            return Ok(None);
        };
        let retention = Retention::new(Vec::new(), bound, &self.facts, entry.wire_name().as_str());
        outputs.stream(retention.call(self.call.as_ref()))
    }
}

impl Drop for Host {
    /// Of what the handler has stored and no settlement names, nobody will ever learn.
    fn drop(&mut self) {
        if let Some(outputs) = self.snapshot.services().outputs.as_ref() {
            for retained in self.state.take_retained() {
                contained(|| outputs.forget(&retained));
            }
        }
    }
}
