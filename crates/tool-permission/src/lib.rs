#![doc = include_str!("../README.md")]

mod desk;
mod effect;
mod file;
mod index;
mod judge;
mod keys;
mod layer;
mod line;
mod load_error;
mod notice;
mod path;
mod policy;
mod question;
mod resolve;
mod rule;
mod subject;
mod volume;
mod wildcard;

pub use desk::{Desk, NotFound, Reply};
pub use effect::Effect;
pub use layer::Layer;
pub use load_error::{LoadError, LoadErrorKind};
pub use notice::{Ending, Notice, Notices};
pub use policy::RulePolicy;
pub use question::{Question, QuestionId, QuestionIdError};
pub use rule::Rule;
pub use volume::{ProbedVolumes, Volume, Volumes};
pub use wildcard::Pattern;
