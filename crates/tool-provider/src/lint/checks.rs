//! The checks, by what they look at. What a provider takes they read from its table of rules,
//! where the projection reads it too.

pub(crate) mod enums;
pub(crate) mod envelope;
pub(crate) mod general;
pub(crate) mod keywords;
pub(crate) mod limits;
pub(crate) mod mcp;
pub(crate) mod moonshot;
pub(crate) mod objects;
pub(crate) mod references;
pub(crate) mod typing;
