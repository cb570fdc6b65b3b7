#![doc = include_str!("../README.md")]

pub mod artifacts;
pub mod outputs;
mod report;

pub use report::{Failed, Report, Verdict};
