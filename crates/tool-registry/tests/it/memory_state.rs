//! State in memory keeps what every state promises.

use std::sync::Arc;

use tool_registry::MemoryState;
use tool_testkit::state::{self, StateHarness};

struct Memory;

impl StateHarness for Memory {
    type State = Arc<MemoryState>;

    fn open(&self) -> Self::State {
        Arc::default()
    }

    fn reopen(&self, state: &Self::State) -> Option<Self::State> {
        Some(Arc::clone(state))
    }
}

#[tokio::test]
async fn memory_keeps_what_every_state_promises() {
    let report = state::run(&Memory).await;
    let passed = |(_, verdict): &(_, state::Verdict)| *verdict == state::Verdict::Passed;
    assert!(report.cases().iter().all(passed), "{report}");
}
