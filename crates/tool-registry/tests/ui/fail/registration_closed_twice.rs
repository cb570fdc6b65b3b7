use tool_core::Tool;
use tool_registry::Registry;

fn main() {
    let none: [(&str, Tool); 0] = [];
    let Ok(registration) = Registry::default().register(none) else {
        return;
    };
    registration.close();
    registration.close();
}
