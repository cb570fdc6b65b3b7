//! What a permission request is about, at least one thing.

use std::borrow::Cow;
use std::ops::Deref;

use thiserror::Error;

use crate::Resource;

/// The resources of a request: one or more.
///
/// There is no way to make one of nothing, so that no checker can be asked about nothing and find
/// nothing wrong with it. Of a list that is made while running the empty one is an error:
///
/// ```
/// use tool_core::{NoResources, Resource, Resources};
///
/// let pages = ["a", "b"].map(Resource::from);
/// assert_eq!(Resources::try_from(pages.to_vec())?.len(), 2);
/// assert_eq!(Resources::try_from(Vec::new()), Err(NoResources));
/// assert_eq!(Resources::new("a", ["b"]), Resources::try_from(&pages[..])?);
/// # Ok::<(), NoResources>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources<'a>(Cow<'a, [Resource]>);

/// A list of resources with nothing in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a permission request names no resource")]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing and never will")]
pub struct NoResources;

/// What surely holds a resource: one of them, an array of up to sixteen, or [`Resources`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` may name no resource, and a permission request names at least one",
    label = "this may be empty",
    note = "write them as an array: `[resource]`",
    note = "a list that is made while running becomes `Resources` by `Resources::try_from(list)?` \
            or `Resources::new(first, others)`"
)]
pub trait IntoResources<'a> {
    /// The resources.
    fn into_resources(self) -> Resources<'a>;
}

impl Resources<'static> {
    /// A first resource and others.
    pub fn new<R: Into<Resource>>(
        first: impl Into<Resource>,
        others: impl IntoIterator<Item = R>,
    ) -> Self {
        let others = others.into_iter().map(Into::into);
        Self(std::iter::once(first.into()).chain(others).collect())
    }
}

impl Resources<'_> {
    /// The same, for as long as these are there.
    #[must_use]
    pub fn borrowed(&self) -> Resources<'_> {
        Resources(Cow::Borrowed(&self.0))
    }

    /// The same, for as long as they are kept.
    #[must_use]
    pub fn into_owned(self) -> Resources<'static> {
        Resources(Cow::Owned(self.0.into_owned()))
    }
}

impl Deref for Resources<'_> {
    type Target = [Resource];

    fn deref(&self) -> &[Resource] {
        &self.0
    }
}

impl TryFrom<Vec<Resource>> for Resources<'static> {
    type Error = NoResources;

    fn try_from(list: Vec<Resource>) -> Result<Self, NoResources> {
        match list.is_empty() {
            true => Err(NoResources),
            false => Ok(Self(Cow::Owned(list))),
        }
    }
}

impl<'a> TryFrom<&'a [Resource]> for Resources<'a> {
    type Error = NoResources;

    fn try_from(list: &'a [Resource]) -> Result<Self, NoResources> {
        match list.is_empty() {
            true => Err(NoResources),
            false => Ok(Self(Cow::Borrowed(list))),
        }
    }
}

impl<'a> IntoResources<'a> for Resources<'a> {
    fn into_resources(self) -> Resources<'a> {
        self
    }
}

impl<'a> IntoResources<'a> for Resource {
    fn into_resources(self) -> Resources<'a> {
        Resources(Cow::Owned(vec![self]))
    }
}

macro_rules! arrays {
    ($($length:literal)*) => {
        $(
            impl<'a, R: Into<Resource>> IntoResources<'a> for [R; $length] {
                fn into_resources(self) -> Resources<'a> {
                    Resources(Cow::Owned(self.map(Into::into).into()))
                }
            }

            impl<'a> IntoResources<'a> for &'a [Resource; $length] {
                fn into_resources(self) -> Resources<'a> {
                    Resources(Cow::Borrowed(self))
                }
            }
        )*
    };
}

arrays!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
