use tool_core::Decision;

fn decided(decision: Decision) -> bool {
    match decision {
        Decision::Allow => true,
        Decision::Ask => false,
    }
}

fn main() {
    decided(Decision::Deny);
}
