use tool_core::Outcome;

fn is_done(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Completed => true,
        Outcome::Failed(_)
        | Outcome::Refused(_)
        | Outcome::Suspended(_)
        | Outcome::Cancelled
        | Outcome::TimedOut { .. }
        | Outcome::Defect(_)
        | Outcome::NotDispatched { .. } => false,
    }
}

fn main() {
    is_done(&Outcome::Completed);
}
