//! What becomes of whom nobody knows yet.

/// What becomes of a server that was never seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is no third way to meet a stranger"
)]
pub enum FirstSight {
    /// It is trusted as it is: whoever configured it meant it. The default.
    #[default]
    Trust,
    /// It waits for approval: first how it is reached, and once it has been started, its tools.
    Hold,
}
