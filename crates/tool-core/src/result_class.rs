//! What sort of answer a tool gives.

use serde::{Deserialize, Serialize};

/// What sort of answer a tool gives. Checked by samples, not at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultClass {
    /// A few things that matter now.
    Triage,
    /// Everything there is.
    Inventory,
}
