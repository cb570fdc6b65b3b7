#![doc = include_str!("../README.md")]

#[macro_use]
mod ran;

pub mod artifacts;
pub mod outputs;
mod report;
pub mod state;

pub use report::{Failed, Report, Verdict};
