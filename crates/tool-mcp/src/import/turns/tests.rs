use std::sync::Arc;

use serde_json::json;
use tool_core::Concurrency;

use super::Turns;

#[tokio::test]
async fn a_lane_goes_with_the_last_who_is_in_it_also_with_one_that_gave_up_waiting() {
    let turns = Arc::new(Turns::default());
    let tool: Arc<str> = "write".into();
    let class = Concurrency::ByKey("/path".to_owned());
    for number in 0..100 {
        let call = json!({"path": number});
        let first = turns.enter(&tool, &class, &call).await;
        assert!(first.is_some());
        {
            let mut second = std::pin::pin!(turns.enter(&tool, &class, &call));
            tokio::select! {
                biased;
                _ = &mut second => panic!("two run beside each other"),
                () = std::future::ready(()) => {}
            }
            drop(first);
            // Whoever waits keeps the lane.
            assert_eq!(turns.lanes().len(), 1);
        }
        assert_eq!(turns.lanes().len(), 0);
    }
    assert!(
        turns
            .enter(&tool, &Concurrency::Parallel, &json!({}))
            .await
            .is_none()
    );
}
