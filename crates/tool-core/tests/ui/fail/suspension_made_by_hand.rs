use tool_core::Suspension;

fn main() {
    let suspension = Suspension::new("sus_1", tool_core::Gate::Approval, "tool");
    let _ = Suspension {
        id: "sus_2".to_owned(),
        ..suspension
    };
}
