//! Asking for leave to use a place, and holding it to what was asked.

use serde_json::{Map, Value};
use tool_core::{Context, HandlerError, Permission, Resources, ToolFailure};

use crate::Workspace;
use crate::offload::offload;
use crate::place::{Place, Target, Unresolved};

/// The workspace together with who decides on it.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) workspace: Workspace,
    pub(crate) permission: Permission,
}

impl Access {
    pub(crate) fn new(workspace: &Workspace, permission: Permission) -> Self {
        Self {
            workspace: workspace.clone(),
            permission,
        }
    }

    /// Asks for an action on a place, and tells where it leads.
    ///
    /// Nothing of what is there is read before the answer. The way is resolved before and after
    /// asking, which can take as long as a person does: a link that was changed meanwhile is not
    /// followed. Where it leads is asked about by name too, so that what is opened was judged
    /// itself, and not what a link led to at some other moment.
    pub(crate) async fn ask(
        &self,
        cx: &Context,
        action: &str,
        place: &Place,
        metadata: Map<String, Value>,
    ) -> Result<Target, HandlerError> {
        let before = self.resolve(cx, place).await?.ok();

        let led = before.as_ref().map(|target| Place::of(&target.path));
        let led = led.filter(|led| led != place);
        let places = || std::iter::once(place).chain(&led);
        let root = self.workspace.root();
        let led_to = led.as_ref().map(|place| place.resource(root));
        let resources = Resources::new(place.resource(root), led_to);
        let mut assertion = self.permission.assert(cx, action, resources);
        for pattern in places().filter_map(Place::pattern) {
            assertion = assertion.save(pattern);
        }
        for (key, value) in metadata {
            assertion = assertion.metadata(key, value);
        }
        assertion.await?;

        let target = self
            .resolve(cx, place)
            .await?
            .map_err(|unresolved| unresolved.explain(place))?;
        if before.is_some_and(|before| before.path == target.path) {
            return Ok(target);
        }
        Err(ToolFailure::new(format!(
            "{place} led elsewhere before permission was granted; look again"
        ))
        .into())
    }

    async fn resolve(
        &self,
        cx: &Context,
        place: &Place,
    ) -> Result<Result<Target, Unresolved>, HandlerError> {
        let (workspace, place) = (self.workspace.clone(), place.clone());
        offload(cx, move |_stop| workspace.resolve(&place)).await
    }
}
