#![doc = include_str!("../README.md")]

mod effect;
mod index;
mod judge;
mod keys;
mod path;
mod resolve;
mod rule;
mod subject;
mod volume;
mod wildcard;

pub use effect::Effect;
pub use rule::Rule;
pub use volume::{ProbedVolumes, Volume, Volumes};
pub use wildcard::Pattern;
