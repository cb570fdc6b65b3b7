//! What a store asks of the disk, counted, with few outputs and with many.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tool_core::{Bound, Content, Facts, OutputStore as _, PageRequest, Retention};

use super::{Failing, Faults, Op, Plan, block_on};
use crate::DirStore;

/// A store with so many outputs, and what is asked of its disk.
fn store_of(outputs: usize, root: &Path) -> (DirStore, Arc<Plan>, String) {
    let plan = Arc::new(Plan::new(Failing::Nothing));
    let mut setup = DirStore::builder(root.join("outputs"));
    setup.faults = Faults::of(Arc::clone(&plan));
    let store = setup.open().unwrap();
    let mut id = String::new();
    for _ in 0..outputs {
        id = retain(&store, 100);
    }
    // The last change was long ago, so that a later one would show.
    let directory = File::open(root.join("outputs")).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    directory.set_modified(long_ago).unwrap();
    store.list().unwrap();
    (store, plan, id)
}

fn retain(store: &DirStore, len: usize) -> String {
    let facts = Facts::new().session("s");
    let content = vec![Content::text("x".repeat(len))];
    let retention = Retention::new(content, Bound::new(1, 1).unwrap(), &facts, "shell");
    block_on(store.bound(retention)).unwrap().retained.id
}

/// What a store of so many outputs asks of the disk for something.
fn cost(outputs: usize, work: impl Fn(&DirStore, &str)) -> Vec<Op> {
    let dir = tempfile::tempdir().unwrap();
    let (store, plan, id) = store_of(outputs, dir.path());
    let before = plan.seen().len();
    work(&store, &id);
    plan.seen()[before..].to_vec()
}

#[test]
fn what_storing_listing_and_reading_ask_of_the_disk_does_not_grow_with_the_outputs() {
    let put = |store: &DirStore, _: &str| drop(retain(store, 100));
    let list = |store: &DirStore, _: &str| {
        assert!(store.list().unwrap().len() >= 3);
        assert_eq!(store.list_page(3, None).unwrap().outputs.len(), 3);
    };
    let read = |store: &DirStore, id: &str| {
        block_on(store.page(PageRequest::new(id, None))).unwrap();
    };
    let remove = |store: &DirStore, id: &str| store.remove(id).unwrap();
    for (few, many) in [
        (cost(3, put), cost(300, put)),
        (cost(3, list), cost(300, list)),
        (cost(3, read), cost(300, read)),
        (cost(3, remove), cost(300, remove)),
    ] {
        assert_eq!(few, many);
    }
    assert_eq!(cost(3, put), [Op::Open, Op::Write, Op::Rename]);
    assert!(cost(300, list).is_empty(), "nothing has changed");
    assert_eq!(cost(300, remove), [Op::Remove, Op::Open, Op::Write]);
}

#[test]
fn a_list_after_a_change_reads_the_names_and_the_new_outputs_alone() {
    let after_a_change = cost(300, |store, _| {
        retain(store, 100);
        store.list().unwrap();
    });
    assert_eq!(after_a_change, [Op::Open, Op::Write, Op::Rename, Op::List]);
}
