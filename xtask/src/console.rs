//! What a person sees of a run.

/// Prints one line.
#[expect(clippy::print_stdout, reason = "this is the one place that prints")]
pub fn say(line: impl AsRef<str>) {
    println!("{}", line.as_ref());
}
