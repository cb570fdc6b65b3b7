#![doc = include_str!("../README.md")]

pub mod artifacts;
mod report;

pub use report::{Failed, Report, Verdict};
