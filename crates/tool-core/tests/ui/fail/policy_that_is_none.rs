use tool_core::{NobodyToAsk, Permission};

struct NotAPolicy;

fn main() {
    let _ = Permission::new(NotAPolicy, NobodyToAsk);
}
