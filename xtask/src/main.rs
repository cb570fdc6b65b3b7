//! The command line of `cargo xtask`.
fn main() {}
