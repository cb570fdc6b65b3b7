//! A decision, an answer and a stage can be matched whole, so that a further one breaks every
//! match.

use tool_core::{Answer, Decision, HandlerErrorKind};

fn decided(decision: Decision) -> bool {
    match decision {
        Decision::Allow => true,
        Decision::Ask | Decision::Deny => false,
    }
}

fn answered(answer: Answer) -> bool {
    match answer {
        Answer::Approved => true,
        Answer::Declined { .. } | Answer::Stopped { .. } | Answer::Nobody => false,
    }
}

fn sorted(kind: &HandlerErrorKind) -> bool {
    match kind {
        HandlerErrorKind::Failure(_) => true,
        HandlerErrorKind::Refused(_)
        | HandlerErrorKind::Unencoded(_)
        | HandlerErrorKind::Defect(_) => false,
    }
}

fn main() {
    let _: (fn(_) -> _, fn(_) -> _, fn(&_) -> _) = (decided, answered, sorted);
}
