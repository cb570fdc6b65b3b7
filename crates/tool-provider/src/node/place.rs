//! Where a subschema stands.

use std::fmt;
use std::rc::Rc;

/// A place in a schema, as a JSON pointer. Clones are cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place(Option<Rc<Step>>);

#[derive(Debug)]
struct Step {
    above: Place,
    token: String,
}

impl Place {
    pub(crate) fn root() -> Self {
        Self(None)
    }

    pub(crate) fn below(&self, token: impl Into<String>) -> Self {
        Self(Some(Rc::new(Step {
            above: self.clone(),
            token: token.into(),
        })))
    }

    /// The place that a pointer names.
    pub(crate) fn of_pointer(pointer: &str) -> Self {
        pointer
            .split('/')
            .skip(1)
            .fold(Self::root(), |above, token| {
                above.below(token.replace("~1", "/").replace("~0", "~"))
            })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.0 else { return Ok(()) };
        let token = step.token.replace('~', "~0").replace('/', "~1");
        write!(f, "{}/{token}", step.above)
    }
}
