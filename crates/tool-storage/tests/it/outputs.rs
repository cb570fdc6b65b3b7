use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;
use tool_core::{BoxFuture, Facts, StoreError};
use tool_storage::{DirStore, Limits};
use tool_testkit::outputs::{self, LIFE, OutputHarness};

use crate::fixture::Clock;

/// Stores in directories of their own.
struct Directories {
    clock: Clock,
    dirs: Mutex<Vec<(DirStore, TempDir)>>,
}

impl Directories {
    fn in_dir(&self, dir: &TempDir, limits: Limits) -> DirStore {
        let clock = self.clock.clone();
        let builder = DirStore::builder(dir.path().join("outputs"));
        let builder = builder.clock(move || clock.now()).limits(limits);
        builder.open().unwrap()
    }

    fn with(&self, limits: Limits) -> DirStore {
        let dir = tempfile::tempdir().unwrap();
        let store = self.in_dir(&dir, limits);
        self.dirs.lock().unwrap().push((store.clone(), dir));
        store
    }
}

impl OutputHarness for Directories {
    type Store = DirStore;

    fn open(&self) -> BoxFuture<'_, DirStore> {
        Box::pin(async move { self.with(Limits::DEFAULT) })
    }

    fn limited(&self, output_bytes: u64, total_bytes: u64) -> BoxFuture<'_, Option<DirStore>> {
        let limits = Limits::new(output_bytes, total_bytes, LIFE).unwrap();
        Box::pin(async move { Some(self.with(limits)) })
    }

    fn again<'a>(&'a self, store: &'a DirStore) -> BoxFuture<'a, Option<DirStore>> {
        Box::pin(async move {
            let root = format!("{store:?}");
            let dirs = self.dirs.lock().unwrap();
            let of_store = |(it, _): &&(DirStore, TempDir)| format!("{it:?}") == root;
            let (_, dir) = dirs.iter().find(of_store)?;
            Some(self.in_dir(dir, Limits::DEFAULT))
        })
    }

    fn list<'a>(
        &'a self,
        store: &'a DirStore,
    ) -> BoxFuture<'a, Option<Result<Vec<String>, StoreError>>> {
        Box::pin(async move {
            let listed = store.list();
            Some(listed.map(|listed| listed.into_iter().map(|output| output.id).collect()))
        })
    }

    fn sweep<'a>(&'a self, store: &'a DirStore) -> BoxFuture<'a, Option<Result<(), StoreError>>> {
        Box::pin(async move { Some(store.sweep(self.clock.now()).map(|_| ())) })
    }

    fn remove<'a>(
        &'a self,
        store: &'a DirStore,
        id: &'a str,
    ) -> BoxFuture<'a, Option<Result<(), StoreError>>> {
        Box::pin(async move { Some(store.remove(id)) })
    }

    fn end_session<'a>(
        &'a self,
        store: &'a DirStore,
        facts: &'a Facts,
    ) -> BoxFuture<'a, Option<Result<usize, StoreError>>> {
        Box::pin(async move { Some(store.remove_all(facts)) })
    }

    fn advance(&self, by: Duration) -> bool {
        self.clock.advance(by);
        true
    }
}

#[tokio::test]
async fn a_store_in_a_directory_keeps_every_promise() {
    let harness = Directories {
        clock: Clock::new(),
        dirs: Mutex::default(),
    };
    let report = outputs::run(&harness).await;
    assert!(report.is_good(), "\n{report}");
}
