//! A schema of the simple sort, made ready to be checked in one pass over the instance.
//!
//! Most tools take a flat object of scalars. For these the general validator costs more than the
//! tool; for everything else it is asked. A plan never says other than it would.

mod compiled;
mod instance;
mod misfit;

use serde_json::{Number, Value};

pub(crate) use self::instance::{Instance, Look};

/// What is checked of one place.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Everything fits.
    Anything,
    /// Nothing fits.
    Nothing,
    /// The schema says more than is understood here.
    Unknown,
    /// Everything of these types fits.
    Typed(Types),
    /// What fits has to keep these rules.
    Rules(Box<Rules>),
}

#[derive(Debug, Default)]
pub(crate) struct Rules {
    types: Option<Types>,
    /// The only values that fit, all of them strings.
    allowed: Option<Vec<String>>,
    /// At least one of them has to fit.
    any_of: Vec<Plan>,
    integer: Range<i128>,
    length: Range<usize>,
    count: Range<usize>,
    items: Option<Plan>,
    object: Option<Object>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Range<T> {
    least: Option<T>,
    most: Option<T>,
}

#[derive(Debug)]
struct Object {
    /// At most 64, as the ones that were met are remembered in one word.
    properties: Vec<Property>,
    /// A bit for each that must be there.
    required: u64,
    additional: Plan,
}

#[derive(Debug)]
struct Property {
    name: String,
    /// `None` for one that is required and not described.
    plan: Option<Plan>,
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    const NULL: Self = Self(1);
    const BOOLEAN: Self = Self(2);
    const INTEGER: Self = Self(4);
    const NUMBER: Self = Self(8);
    const STRING: Self = Self(16);
    const ARRAY: Self = Self(32);
    const OBJECT: Self = Self(64);

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn fit<I: Instance>(self, look: &Look<'_, I>) -> Option<bool> {
        let one = match look {
            Look::Null => Self::NULL,
            Look::Bool => Self::BOOLEAN,
            Look::Number(number) if number.is_i64() || number.is_u64() => {
                Self::INTEGER.and(Self::NUMBER)
            }
            // A fraction; one that has none is an integer to some.
            Look::Number(number) if number.as_f64().is_some_and(|one| one.fract() != 0.0) => {
                Self::NUMBER
            }
            Look::Number(_) => return None,
            Look::Text(_) => Self::STRING,
            Look::Array(_) => Self::ARRAY,
            Look::Object(_) => Self::OBJECT,
        };
        Some(self.has(one))
    }
}

impl Plan {
    /// What a schema asks for, as far as it is understood.
    pub(crate) fn of(schema: &Value) -> Self {
        compiled::root(schema)
    }

    /// Whether an instance fits. `None` where only the validator can tell.
    pub(crate) fn fits<I: Instance>(&self, instance: &I) -> Option<bool> {
        match self {
            Self::Anything => Some(true),
            Self::Nothing => Some(false),
            Self::Unknown => None,
            Self::Typed(types) => types.fit(&instance.look()),
            Self::Rules(rules) => rules.fit(instance),
        }
    }
}

impl Rules {
    fn fit<I: Instance>(&self, instance: &I) -> Option<bool> {
        let look = instance.look();
        let own = match &look {
            Look::Null => self.has_type(Types::NULL),
            Look::Bool => self.has_type(Types::BOOLEAN),
            Look::Number(number) => self.number_fits(number)?,
            Look::Text(text) => {
                self.has_type(Types::STRING)
                    && (self.length.is_open() || self.length.holds(text.chars().count()))
            }
            Look::Array(items) => self.has_type(Types::ARRAY) && self.count.holds(items.len()),
            Look::Object(_) => self.has_type(Types::OBJECT),
        };
        let allowed = self.allowed.as_ref().is_none_or(
            |allowed| matches!(look, Look::Text(text) if allowed.iter().any(|one| one == text)),
        );
        if !own || !allowed {
            return Some(false);
        }
        let below = match (look, &self.items, &self.object) {
            (Look::Array(items), Some(plan), _) => all(items.iter().map(|item| plan.fits(item))),
            (Look::Object(object), _, Some(plan)) => plan.fit::<I>(object),
            _ => Some(true),
        };
        if self.any_of.is_empty() || below == Some(false) {
            return below;
        }
        let any = any(self.any_of.iter().map(|plan| plan.fits(instance)));
        all([below, any].into_iter())
    }

    fn has_type(&self, one: Types) -> bool {
        self.types.is_none_or(|types| types.has(one))
    }

    fn number_fits(&self, number: &Number) -> Option<bool> {
        let integer = match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => i128::from(number),
            (None, Some(number)) => i128::from(number),
            // A fraction; one that has none is an integer to some.
            (None, None) if !self.integer.is_open() => return None,
            (None, None) if number.as_f64().is_none_or(|number| number.fract() == 0.0) => {
                return None;
            }
            (None, None) => return Some(self.has_type(Types::NUMBER)),
        };
        let is_one = self.has_type(Types::INTEGER.and(Types::NUMBER));
        Some(is_one && self.integer.holds(integer))
    }
}

impl Object {
    fn fit<I: Instance>(&self, object: &I::Members) -> Option<bool> {
        let (mut met, mut known) = (0_u64, true);
        for (position, (key, value)) in I::members(object).enumerate() {
            // Most are sent in the order of the schema.
            let found = match self.properties.get(position) {
                Some(property) if property.name == key => Some((position, property)),
                _ => {
                    let mut properties = self.properties.iter().enumerate();
                    properties.find(|(_, property)| property.name == key)
                }
            };
            let plan = found.and_then(|(index, property)| {
                met |= 1 << index;
                property.plan.as_ref()
            });
            match plan.unwrap_or(&self.additional).fits(value) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => known = false,
            }
        }
        if met & self.required != self.required {
            return Some(false);
        }
        known.then_some(true)
    }
}

impl<T: PartialOrd + Copy> Range<T> {
    fn is_open(&self) -> bool {
        self.least.is_none() && self.most.is_none()
    }

    fn holds(&self, value: T) -> bool {
        self.least.is_none_or(|least| value >= least) && self.most.is_none_or(|most| value <= most)
    }
}

/// Whether all fit.
fn all(mut fits: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    fits.try_fold(Some(true), |all, fit| match fit {
        Some(false) => Err(()),
        Some(true) => Ok(all),
        None => Ok(None),
    })
    .unwrap_or(Some(false))
}

/// Whether one fits at least.
fn any(fits: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(fits.map(|fit| fit.map(|fit| !fit))).map(|none| !none)
}

#[cfg(test)]
mod tests;
