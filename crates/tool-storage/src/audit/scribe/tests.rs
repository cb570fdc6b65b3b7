use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;

use super::Scribe;
use crate::audit::AuditOptions;
use crate::audit::line::Line;
use crate::audit::segments::Segments;
use crate::audit::writer::Seen;
use crate::faults::plan::{Failing, Plan};
use crate::faults::{Faults, Op};
use crate::folder::Folder;

/// Three lines come together, two more are lost for want of room meanwhile, and after the writing
/// another comes.
fn life(dir: &Path, faults: Faults, seen: &Seen) {
    let folder = Arc::new(Folder::open(dir, faults).unwrap());
    let files = Segments::begin(folder, AuditOptions::DEFAULT, Arc::default()).unwrap();
    let mut scribe = Scribe::new(files, seen);
    // A write that fails writes half, and that is a part of the first line.
    scribe.take(Box::new(Line {
        tool: "t".repeat(1_000).into(),
        ..Line::default()
    }));
    for _ in 0..2 {
        scribe.take(Box::default());
    }
    seen.lost.fetch_add(2, Ordering::Relaxed);
    scribe.put_down();
    scribe.take(Box::default());
    scribe.put_down();
}

/// The numbers of all lines that are whole, and how many lost ones each tells of.
fn written(dir: &Path) -> Vec<(u64, Option<u64>)> {
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let text: String = files
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| (line["seq"].as_u64().unwrap(), line["lost"].as_u64()))
        .collect()
}

#[test]
fn of_lines_that_failed_together_each_tells_of_what_was_lost_ahead_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let sound = Arc::new(Plan::new(Failing::Nothing));
    let seen = Seen::default();
    life(
        &dir.path().join("sound"),
        Faults::of(Arc::clone(&sound)),
        &seen,
    );
    let all = [(1, None), (2, None), (3, None), (6, Some(2))];
    assert_eq!(written(&dir.path().join("sound")), all);
    let write = sound.seen().iter().position(|op| *op == Op::Write).unwrap();

    let broken = Faults::of(Arc::new(Plan::new(Failing::Once(write))));
    let seen = Seen::default();
    life(&dir.path().join("broken"), broken, &seen);
    assert_eq!(seen.lost.load(Ordering::Relaxed), 3);
    let rest = [(2, Some(1)), (3, None), (6, Some(2))];
    assert_eq!(written(&dir.path().join("broken")), rest);
}
