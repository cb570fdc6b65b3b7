#![deny(unused_must_use)]

use tool_core::{Call, Facts, Source, Tool};
use tool_registry::Registry;

fn main() {
    let registry = Registry::default();
    let none: [(&str, Tool); 0] = [];
    registry.registrar(Source::Host).register_healthy(none);
    registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new());
}
