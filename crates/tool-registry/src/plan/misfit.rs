//! The one thing that is wrong, where there is but one and a plan can name it.

use tool_core::Issue;

use super::instance::{Instance, Look};
use super::{Object, Plan, Rules, Types};
use crate::pointer;

/// There is more to be said than a plan can say.
struct Unsaid;

type Found = Result<Option<Issue>, Unsaid>;

/// Where something stands, from the inside out.
#[derive(Clone, Copy)]
enum Place<'p> {
    Root,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// The JSON pointer of it.
    fn pointer(self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, key) => {
                let mut path = parent.pointer();
                pointer::push_key(&mut path, key);
                path
            }
            Self::Item(parent, index) => {
                let mut path = parent.pointer();
                pointer::push_index(&mut path, index);
                path
            }
        }
    }
}

impl Plan {
    /// The issue of an instance that does not fit, in the words of the validator. `None` where that
    /// has to be asked: there may be more than one, or one that is not of the simple sort.
    pub(crate) fn misfit<I: Instance>(&self, instance: &I) -> Option<Issue> {
        self.find(instance, Place::Root).ok().flatten()
    }

    fn find<I: Instance>(&self, instance: &I, place: Place<'_>) -> Found {
        match self {
            Self::Anything => Ok(None),
            Self::Nothing | Self::Unknown => Err(Unsaid),
            Self::Typed(types) => types.find(instance, place),
            Self::Rules(rules) => rules.find(instance, place),
        }
    }
}

impl Types {
    fn find<I: Instance>(self, instance: &I, place: Place<'_>) -> Found {
        let look = instance.look();
        match (self.fit(&look), self.name()) {
            (Some(true), _) => Ok(None),
            (Some(false), Some(expected)) => Ok(Some(Issue::Type {
                path: place.pointer(),
                expected: expected.to_owned(),
                got: look.type_name(),
            })),
            _ => Err(Unsaid),
        }
    }

    /// The name of the type, if it is one.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NULL => "null",
            Self::BOOLEAN => "boolean",
            Self::INTEGER => "integer",
            Self::NUMBER => "number",
            Self::STRING => "string",
            Self::ARRAY => "array",
            Self::OBJECT => "object",
            _ => return None,
        })
    }
}

impl Rules {
    fn find<I: Instance>(&self, instance: &I, place: Place<'_>) -> Found {
        if self.fit(instance).ok_or(Unsaid)? {
            return Ok(None);
        }
        if !self.any_of.is_empty() || self.allowed.is_some() {
            return Err(Unsaid);
        }
        match (instance.look(), &self.items, &self.object) {
            (Look::Object(object), _, Some(plan)) if self.has_type(Types::OBJECT) => {
                plan.find::<I>(object, place)
            }
            (Look::Array(items), Some(plan), _)
                if self.has_type(Types::ARRAY) && self.count.holds(items.len()) =>
            {
                let items = items.iter().enumerate();
                only(items.map(|(index, item)| plan.find(item, Place::Item(&place, index))))
            }
            _ => Err(Unsaid),
        }
    }
}

impl Object {
    fn find<I: Instance>(&self, object: &I::Members, place: Place<'_>) -> Found {
        let mut met = 0_u64;
        let found = only(I::members(object).map(|(key, value)| {
            let mut properties = self.properties.iter().enumerate();
            match properties.find(|(_, property)| property.name == key) {
                Some((index, property)) => {
                    met |= 1 << index;
                    let plan = property.plan.as_ref().unwrap_or(&self.additional);
                    plan.find(value, Place::Member(&place, key))
                }
                None => self.additional.find(value, Place::Member(&place, key)),
            }
        }))?;
        let missing = self.required & !met;
        if missing == 0 {
            return Ok(found);
        }
        match self.properties.get(missing.trailing_zeros() as usize) {
            Some(property) if found.is_none() && missing.is_power_of_two() => {
                Ok(Some(Issue::Missing {
                    path: place.pointer(),
                    key: property.name.clone(),
                }))
            }
            _ => Err(Unsaid),
        }
    }
}

/// The only issue among them.
fn only(mut found: impl Iterator<Item = Found>) -> Found {
    found.try_fold(None, |one, next| match (one, next?) {
        (Some(_), Some(_)) => Err(Unsaid),
        (one, next) => Ok(one.or(next)),
    })
}
