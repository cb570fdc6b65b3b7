use tool_core::Facts;
use tool_registry::Registry;

fn main() {
    let registry = Registry::builder().batch_concurrency(0).build();
    let batch = registry.snapshot().batch([], &Facts::new());
    drop(batch.concurrency(0));
}
