#![doc = include_str!("../README.md")]

pub mod artifacts;
pub mod outputs;
mod report;
pub mod state;

pub use report::{Failed, Report, Verdict};
