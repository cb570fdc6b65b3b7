//! The program `tool`.
fn main() {}
