//! When two calls are the same call again.

/// When a call counts as the same call again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepeatedWhen {
    /// The same tool, arguments and result. The default.
    #[default]
    ArgumentsAndResult,
    /// The same tool and arguments, whatever came of it.
    Arguments,
}
