//! `null` for what is better left out.

use super::facts::Facts;
use super::kinds::Kinds;
use super::place::Place;

/// Whether `null` under a key of an object is as good as no key: the schema declares the key, does
/// not require it, and takes no null there.
pub(super) fn stands_for_absence<'s>(
    facts: &Facts<'s>,
    object: &Place<'s>,
    key: &str,
    value: &Place<'s>,
) -> bool {
    !facts.kinds(value).has(Kinds::NULL)
        && facts.declares(object, key)
        && !facts.requires(object, key)
}
