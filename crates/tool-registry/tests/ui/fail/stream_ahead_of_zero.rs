use tool_core::{Call, Facts};
use tool_registry::Registry;

fn main() {
    let settling = Registry::default()
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new());
    drop(settling.stream_ahead(0));
}
