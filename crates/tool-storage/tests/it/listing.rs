use std::fs;

use tool_core::{Facts, StoreErrorKind};

use crate::fixture::{DAY, Fixture, keep};

#[tokio::test]
async fn pages_of_a_list_are_newest_first_and_nothing_shifts_them() {
    let fixture = Fixture::new();
    let facts = Facts::new();
    let mut kept = Vec::new();
    for _ in 0..7 {
        kept.push(keep(&fixture.store, &facts, 10).await);
        fixture.clock.advance(DAY / 24);
    }
    kept.reverse();
    let first = fixture.store.list_page(3, None).unwrap();
    let ids = |page: &tool_storage::OutputsPage| -> Vec<String> {
        page.outputs
            .iter()
            .map(|output| output.id.clone())
            .collect()
    };
    assert_eq!(ids(&first), kept[..3]);
    // The one that the cursor stands on goes, and others come.
    fixture.store.remove(&kept[2]).unwrap();
    keep(&fixture.store, &facts, 10).await;
    let second = fixture.store.list_page(3, first.next.as_deref()).unwrap();
    assert_eq!(ids(&second), kept[3..6]);
    let third = fixture
        .another()
        .list_page(3, second.next.as_deref())
        .unwrap();
    assert_eq!((ids(&third), third.next), (kept[6..].to_vec(), None));
    let all = fixture.store.list_page(7, None).unwrap();
    assert_eq!((all.outputs.len(), all.next), (7, None));
    for wrong in ["", "x", "zz-out_0123456789abcdef", "0-out_"] {
        let error = fixture.store.list_page(3, Some(wrong)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::NotFound);
    }
}

#[tokio::test]
async fn a_list_knows_what_another_store_changed_a_moment_ago() {
    let fixture = Fixture::new();
    let facts = Facts::new();
    let other = fixture.another();
    for round in 1..20 {
        let id = keep(&other, &facts, 10).await;
        assert_eq!(fixture.ids().len(), 1, "{round}");
        other.remove(&id).unwrap();
        assert!(fixture.ids().is_empty(), "{round}");
    }
    // A change that is old is a change too.
    let id = keep(&other, &facts, 10).await;
    let directory = fs::File::open(fixture.root()).unwrap();
    let now = std::time::SystemTime::now();
    directory.set_modified(now - DAY).unwrap();
    assert_eq!(fixture.ids(), [&*id]);
    other.remove(&id).unwrap();
    directory.set_modified(now - DAY / 2).unwrap();
    assert!(fixture.ids().is_empty());
}
