//! Where a subschema stands.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

/// A place in a schema, as a JSON pointer. Clones are cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place(Option<Rc<Step>>);

#[derive(Debug)]
struct Step {
    above: Place,
    token: Cow<'static, str>,
}

impl Place {
    pub(crate) fn root() -> Self {
        Self(None)
    }

    pub(crate) fn below(&self, token: impl Into<Cow<'static, str>>) -> Self {
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

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(mine), Some(theirs)) => {
                Rc::ptr_eq(mine, theirs) || mine.token == theirs.token && mine.above == theirs.above
            }
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.0 else { return Ok(()) };
        write!(f, "{}/", step.above)?;
        if step.token.contains(['~', '/']) {
            return f.write_str(&step.token.replace('~', "~0").replace('/', "~1"));
        }
        f.write_str(&step.token)
    }
}
