//! What is called how in the folder of an audit log.

/// The files of lines. Their names sort by when they were begun.
pub(super) fn segment(millis: u128, instance: u64, number: u64) -> String {
    format!("{BEGINS}{millis:014}-{instance:016x}-{number:06}{ENDS}")
}

pub(super) fn is_segment(name: &str) -> bool {
    name.starts_with(BEGINS) && name.ends_with(ENDS)
}

/// When a file was begun, and the name of the lock that its process holds for as long as it lives.
pub(super) fn parts(segment: &str) -> Option<(u64, String)> {
    let parts = segment.strip_prefix(BEGINS)?.strip_suffix(ENDS)?;
    let (millis, rest) = parts.split_once('-')?;
    let (instance, _) = rest.split_once('-')?;
    let is_plain = |digit: u8| digit.is_ascii_alphanumeric();
    // It becomes the name of a file.
    instance
        .bytes()
        .all(is_plain)
        .then_some((millis.parse().ok()?, format!("{LIVES}{instance}")))
}

/// The lock of a process.
pub(super) fn lock(instance: u64) -> String {
    format!("{LIVES}{instance:016x}")
}

/// The note that a file was closed.
pub(super) fn closed(segment: &str) -> String {
    format!("{HIDDEN}{segment}{CLOSED}")
}

/// The note that a file was removed.
pub(super) fn removed(segment: &str) -> String {
    format!("{HIDDEN}{segment}{REMOVED}")
}

/// The file that was closed, by the name of its note.
pub(super) fn of_closed(name: &str) -> Option<&str> {
    noted(name, CLOSED)
}

/// The file that was removed, by the name of its note.
pub(super) fn of_removed(name: &str) -> Option<&str> {
    noted(name, REMOVED)
}

fn noted<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let segment = name.strip_prefix(HIDDEN)?.strip_suffix(end)?;
    is_segment(segment).then_some(segment)
}

const BEGINS: &str = "audit-";
const ENDS: &str = ".jsonl";
const HIDDEN: &str = ".";
const CLOSED: &str = ".closed";
const REMOVED: &str = ".removed";
const LIVES: &str = ".writer-";
