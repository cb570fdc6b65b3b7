//! The audit log on a disk that fails.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tool_core::{BeforeHook as _, Event, EventKind, EventSink as _, Facts, Incoming};

use super::{Failing, Op, block_on, fail_each_operation};
use crate::{AuditFailure, AuditFiles, AuditIndex, AuditLog, AuditOptions, DirState};

const CALLS: u64 = 4;

fn call(log: &AuditLog, number: u64) {
    emit(log, number);
    log.flush();
}

fn emit(log: &AuditLog, number: u64) {
    let facts = Facts::new();
    let dropped = Event::new(None, "tool", &facts, EventKind::Dropped);
    log.emit(&dropped.number(Some(number)));
}

/// All lines that are whole, and how many are not.
fn lines(folder: &Path) -> (Vec<Value>, usize) {
    let mut names: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|name| name.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    names.sort();
    let text: String = names
        .iter()
        .map(|name| fs::read_to_string(name).unwrap())
        .collect();
    let read: Vec<_> = text.lines().map(serde_json::from_str::<Value>).collect();
    let torn = read.iter().filter(|line| line.is_err()).count();
    (read.into_iter().flatten().collect(), torn)
}

#[test]
fn a_line_is_written_or_counted_as_lost_whatever_fails() {
    for bytes in [1, 1 << 20] {
        let options = AuditOptions::DEFAULT.file_bytes(NonZeroU64::new(bytes).unwrap());
        let operations = fail_each_operation(
            |dir, faults| {
                let log = AuditLog::open_with(&dir.join("audit"), faults, options).ok()?;
                for number in 1..=CALLS {
                    call(&log, number);
                }
                Some(log.lost())
            },
            |dir, failing, told| {
                let (lines, _) = lines(&dir.join("audit"));
                let Some(lost) = *told else {
                    return assert!(lines.is_empty(), "{failing:?}");
                };
                let numbers: BTreeSet<u64> = lines
                    .iter()
                    .map(|line| line["seq"].as_u64().unwrap())
                    .collect();
                assert_eq!(numbers.len(), lines.len(), "{failing:?}");
                assert_eq!(numbers.len() as u64 + lost, CALLS, "{failing:?}");
                let told: u64 = lines.iter().filter_map(|line| line["lost"].as_u64()).sum();
                let seen = match numbers.last() {
                    Some(last) => last - numbers.len() as u64,
                    None => 0,
                };
                assert_eq!(told, seen, "{failing:?}");
            },
        );
        assert!(operations.len() > 4);
    }
}

#[test]
fn while_nothing_can_be_written_calls_are_refused_where_that_is_wanted() {
    let before = |log: &AuditLog| {
        let mut incoming = Incoming::new(None, "tool", tool_core::Arguments::Text("{}".to_owned()));
        block_on(log.before(&mut incoming, &Facts::new())).is_ok()
    };
    for (failure, expected) in [
        (AuditFailure::Refuse, false),
        (AuditFailure::Continue, true),
    ] {
        let options = AuditOptions::DEFAULT.on_failure(failure);
        let found = std::cell::RefCell::new(BTreeSet::new());
        fail_each_operation(
            |dir, faults| {
                let log = AuditLog::open_with(&dir.join("audit"), faults, options).ok()?;
                assert!(before(&log));
                call(&log, 1);
                let (broken, goes_on) = (!log.is_writing(), before(&log));
                Some((broken, goes_on))
            },
            |_, failing, told| {
                let Some((true, goes_on)) = told else { return };
                if matches!(failing, Failing::From(_)) {
                    found.borrow_mut().insert(*goes_on);
                } else {
                    assert!(goes_on, "the disk got over it");
                }
            },
        );
        assert_eq!(found.into_inner(), BTreeSet::from([expected]));
    }
}

#[test]
fn whatever_fails_the_index_catches_up_and_raises_no_alarm() {
    // So small that files are removed to make room.
    let options = AuditOptions::DEFAULT.file_bytes(NonZeroU64::MIN);
    let options = options.total_bytes(NonZeroU64::new(300).unwrap());
    let index = |dir: &Path| AuditIndex::kept_in(Arc::new(DirState::open(dir).unwrap()));
    let operations = fail_each_operation(
        |dir, faults| {
            let index = index(&dir.join("state"));
            for _ in 0..2 {
                let log = AuditLog::open_with(&dir.join("audit"), faults.clone(), options).ok()?;
                for number in 0..3 {
                    emit(&log, number);
                }
                // Once, as each waits for a moment in which lines come together.
                log.flush();
                // It may fail, and loses nothing.
                let _ = block_on(index.catch_up(&log.files()));
            }
            Some(())
        },
        |dir, failing, _| {
            let (folder, index) = (dir.join("audit"), index(&dir.join("state")));
            let Ok(files) = AuditFiles::in_folder(&folder) else {
                return;
            };
            let sound = |when: &str| {
                let checked = block_on(index.check(&files)).unwrap();
                let alarms: Vec<_> = checked
                    .iter()
                    .filter(|it| it.finding.is_problem())
                    .collect();
                assert!(alarms.is_empty(), "{when} {failing:?}: {alarms:?}");
            };
            sound("before");
            block_on(index.catch_up(&files)).unwrap();
            sound("after");
            let entered: BTreeSet<_> = block_on(index.list())
                .unwrap()
                .into_iter()
                .map(|entry| entry.name)
                .collect();
            for entry in fs::read_dir(&folder).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                let has_lines = name.ends_with(".jsonl") && entry.metadata().unwrap().len() > 0;
                assert!(!has_lines || entered.contains(&name), "{failing:?}: {name}");
            }
        },
    );
    assert!(operations.len() > 50, "{}", operations.len());
    let renamed = operations.iter().filter(|it| **it == Op::Rename);
    let renamed = renamed.count();
    assert!(renamed > 1, "room was made: {renamed}");
}
