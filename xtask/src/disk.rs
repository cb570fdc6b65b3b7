//! How much room is left on the disk of the target folder.

use std::path::Path;

use crate::{Error, Invocation, Workspace};

/// What a run from an empty target folder takes with cargo's incremental cache and without it, in
/// GB. Measured on Linux, and rounded up.
const COLD: (u64, u64) = (16, 9);
const KIB_OF_GB: u64 = 1_000_000_000 / 1024;

/// Says how much room is left, and whether a cold run has too little. `None` where that cannot be
/// told, as on Windows.
///
/// # Errors
/// When the target folder is not known.
pub fn room(workspace: &Workspace) -> Result<Option<String>, Error> {
    let target = workspace.target()?;
    // It may not be there yet.
    let there = target.ancestors().find(|folder| folder.exists());
    let Some(there) = there else {
        return Ok(None);
    };
    let left = df(there).and_then(|answer| left_kib(&answer));
    let cache = std::env::var("CARGO_INCREMENTAL").is_ok_and(|value| value == "0");
    Ok(left.map(|left| note(left, !cache)))
}

fn df(folder: &Path) -> Option<String> {
    Invocation::new("df", folder).args(["-Pk", "."]).answer()
}

/// The KiB that are left, of what `df -Pk` answers for one folder.
///
/// Source: POSIX.1-2017, "df", output format of `-P`.
#[must_use]
pub fn left_kib(df: &str) -> Option<u64> {
    let mut lines = df.lines();
    let is_head = |line: &str| line.contains("1024-blocks");
    lines.next().filter(|line| is_head(line))?;
    // A name may hold blanks, and so may where it is mounted, behind a capacity with a percent sign.
    let words: Vec<&str> = lines.next()?.split_whitespace().collect();
    let capacity = words.iter().position(|word| {
        let number = word.strip_suffix('%');
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    })?;
    words.get(capacity.checked_sub(1)?)?.parse().ok()
}

/// What a reader is told of that much room.
#[must_use]
pub fn note(left_kib: u64, incremental: bool) -> String {
    let left = left_kib / KIB_OF_GB;
    let (with, without) = COLD;
    let left_over = format!("{left} GB are left on the disk of the target folder");
    match incremental {
        true if left < with => format!(
            "{left_over}, and a run from nothing takes {with}: make room, or export \
             CARGO_INCREMENTAL=0, with which it takes {without}"
        ),
        false if left < without => format!(
            "{left_over}, and a run from nothing takes {without}: make room (cargo clean takes away \
             what was built before)"
        ),
        _ => left_over,
    }
}
