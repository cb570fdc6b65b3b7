//! What an operator is warned of.

use std::sync::{Arc, Mutex};

/// Takes warnings in which a text stands.
#[derive(Clone)]
pub(crate) struct Warnings {
    text: &'static str,
    told: Arc<Mutex<Vec<String>>>,
}

impl Warnings {
    pub(crate) fn with(text: &'static str) -> Self {
        let told = Arc::default();
        Self { text, told }
    }

    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lock().expect("no panic").clone()
    }
}

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);
        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{field}={value:?};"));
            }
        }
        let mut line = Line(String::new());
        event.record(&mut line);
        if line.0.contains(self.text) {
            self.told.lock().expect("no panic").push(line.0);
        }
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
