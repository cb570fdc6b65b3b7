//! When a tool asks a person before it acts, and with what.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contained::contained;
use crate::{Component, ComponentFault};

type Failure = Box<dyn Error + Send + Sync>;
type Trips = dyn Fn(&Value) -> Result<bool, Failure> + Send + Sync;

/// A tool checks in with a person before it acts, and may bring a component to ask with.
///
/// ```
/// use tool_core::{CheckIn, Component};
///
/// #[derive(serde::Deserialize)]
/// struct Mail {
///     to: Vec<String>,
/// }
///
/// let crowd = CheckIn::when(|mail: Mail| Ok(mail.to.len() > 10));
/// let crowd = crowd.component(Component::new("recipients"));
/// assert!(crowd.trips(&serde_json::json!({"to": "not a list"})), "what cannot be read asks");
/// ```
#[derive(Clone)]
pub struct CheckIn {
    trips: Option<Arc<Trips>>,
    /// The predicate reads the arguments into a type of its own, past the codec of the tool.
    by_serde: bool,
    component: Option<Component>,
    /// The argument that names the artifact of the component.
    props_from: Option<String>,
}

impl CheckIn {
    /// Every call checks in.
    #[must_use]
    pub fn always() -> Self {
        Self {
            trips: None,
            by_serde: false,
            component: None,
            props_from: None,
        }
    }

    /// Calls check in for which the predicate says so, over the arguments, read by serde: a
    /// [`Value`] takes them as they are. One that fails, panics or cannot read the input says yes.
    ///
    /// A tool with a codec of its own takes no other type, as that would pass its codec by:
    /// [`TypedTool::check_in_when`](crate::TypedTool::check_in_when) is for the input that the
    /// tool's codec decodes.
    pub fn when<I: DeserializeOwned + 'static>(
        trips: impl Fn(I) -> Result<bool, Failure> + Send + Sync + 'static,
    ) -> Self {
        let by_serde = TypeId::of::<I>() != TypeId::of::<Value>();
        Self::always().only(move |input| trips(I::deserialize(input)?), by_serde)
    }

    /// The same check-in, for those calls alone for which the predicate says so.
    pub(crate) fn only(
        mut self,
        trips: impl Fn(&Value) -> Result<bool, Failure> + Send + Sync + 'static,
        by_serde: bool,
    ) -> Self {
        self.trips = Some(Arc::new(trips));
        self.by_serde = by_serde;
        self
    }

    /// Whether it reads the arguments into a type of its own.
    pub(crate) fn reads_by_serde(&self) -> bool {
        self.by_serde
    }

    /// Brings a component to ask with.
    #[must_use]
    pub fn component(mut self, component: Component) -> Self {
        self.component = Some(component);
        self
    }

    /// Has the component find what it is given in the artifact that a string argument names, in
    /// place of one that it names itself: a person reads the very draft that would be sent. A call
    /// that leaves the argument out is asked about without one.
    ///
    /// ```
    /// use tool_core::{CheckIn, Component};
    ///
    /// let check_in = CheckIn::always()
    ///     .component(Component::new("mail-preview"))
    ///     .props_from("draft");
    /// let asked = check_in.component_for(&serde_json::json!({"draft": "art_1"}))?;
    /// assert_eq!(asked.and_then(|component| component.props_ref).as_deref(), Some("art_1"));
    /// # Ok::<_, tool_core::ComponentFault>(())
    /// ```
    #[must_use]
    pub fn props_from(mut self, argument: impl Into<String>) -> Self {
        self.props_from = Some(argument.into());
        self
    }

    /// Whether a call checks in.
    #[must_use]
    pub fn trips(&self, input: &Value) -> bool {
        let Some(trips) = &self.trips else {
            return true;
        };
        !matches!(contained(|| trips(input)), Some(Ok(false)))
    }

    /// The component to ask with, if there is one.
    #[must_use]
    pub fn asks_with(&self) -> Option<&Component> {
        self.component.as_ref()
    }

    /// The argument that names the artifact of the component, if one does.
    #[must_use]
    pub fn takes_props_from(&self) -> Option<&str> {
        self.props_from.as_deref()
    }

    /// Whether the component finds anything in an artifact, so that it needs a store.
    #[must_use]
    pub fn shows_artifacts(&self) -> bool {
        let named = self.component.as_ref();
        self.props_from.is_some() || named.is_some_and(|component| component.props_ref.is_some())
    }

    /// The component to ask with about one call, if there is one.
    ///
    /// # Errors
    /// [`ComponentFault::Shape`] when the argument that names its artifact is no text.
    pub fn component_for(&self, input: &Value) -> Result<Option<Component>, ComponentFault> {
        let Some(component) = &self.component else {
            return Ok(None);
        };
        let mut component = component.clone();
        if let Some(argument) = &self.props_from {
            component.props_ref = match input.get(argument) {
                None | Some(Value::Null) => None,
                Some(Value::String(reference)) => Some(reference.clone()),
                Some(_) => return Err(ComponentFault::Shape),
            };
        }
        let blank = |reference: &String| reference.trim().is_empty();
        if component.props_ref.as_ref().is_some_and(blank) {
            return Err(ComponentFault::Shape);
        }
        Ok(Some(component))
    }
}

impl fmt::Debug for CheckIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckIn")
            .field("always", &self.trips.is_none())
            .field("component", &self.component)
            .field("props_from", &self.props_from)
            .finish()
    }
}
