//! What every call of one registry uses.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tool_core::{
    AfterHook, ArtifactStore, BeforeHook, Bound, Credentials, EventSink, OutputStore, Permission,
};

pub(crate) struct Services {
    pub(crate) permission: Permission,
    pub(crate) outputs: Option<Arc<dyn OutputStore>>,
    pub(crate) artifacts: Arc<dyn ArtifactStore>,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) before: Vec<Arc<dyn BeforeHook>>,
    pub(crate) after: Vec<Arc<dyn AfterHook>>,
    pub(crate) events: Option<Arc<dyn EventSink>>,
    pub(crate) bound: ArcSwap<Bound>,
    pub(crate) batch_concurrency: NonZeroUsize,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Services(..)")
    }
}
