#![doc = include_str!("../README.md")]

pub mod artifacts;
mod report;
pub mod state;

pub use report::{Failed, Report, Verdict};
