use tool_core::{Facts, Suspension};
use tool_registry::Registry;

fn resume(registry: &Registry, suspension: Suspension) {
    let _ = registry.snapshot().resume(suspension, true, &Facts::new());
}

fn main() {
    let _ = resume;
}
