//! Two schemas that both have to hold, as one.

use std::collections::HashSet;

use serde_json::Value;

use crate::loss::Report;
use crate::node::{ANNOTATIONS, Named, Node, Plain, Slot};

/// What is compared with each other faster than looked up.
const FEW: usize = 32;

/// What becomes of what is demanded of keys that are not named.
pub(super) const UNSAID: &str = "it is not said of every key that it is about";

/// Adds to a node what another demands too. What cannot be said in one schema is given up.
pub(super) fn merge<'a>(into: &mut Node<'a>, other: Node<'a>, report: &mut Report<'a>) {
    into.never |= other.never;
    into.refuses_null |= other.refuses_null;
    let mut other = other;
    rest_holds(into, &mut other, report);
    rest_holds(&other, into, report);
    let conditional = ["if", "then", "else"];
    let has_condition = conditional.iter().any(|key| into.has(key));
    for (key, slot) in other.keys {
        if ANNOTATIONS.contains(&key) {
            into.keys.or_insert(key, slot);
            continue;
        }
        if has_condition && conditional.contains(&key) {
            report.gave_up(
                other.place,
                key,
                "a second condition holds beside the first",
            );
            continue;
        }
        let Some(mine) = into.keys.remove(key) else {
            into.keys.insert(key, slot);
            continue;
        };
        let both = match (mine, slot) {
            (Slot::Plain(mine), Slot::Plain(theirs)) => match plain(key, &mine, &theirs) {
                Some(both) => {
                    if key == "enum" && both.as_array().is_some_and(Vec::is_empty) {
                        into.never = true;
                    }
                    Slot::Plain(Plain::Made(Box::new(both)))
                }
                None => {
                    report.gave_up(other.place, key, "another one stands in its place");
                    Slot::Plain(mine)
                }
            },
            (Slot::Text(mine), Slot::Text(theirs)) if mine == theirs => Slot::Text(mine),
            (Slot::Names(mut mine), Slot::Names(theirs)) => {
                if theirs.len() <= FEW {
                    for name in theirs {
                        if !mine.contains(&name) {
                            mine.push(name);
                        }
                    }
                } else {
                    let mut known: HashSet<_> = mine.iter().cloned().collect();
                    let further = theirs.into_iter();
                    mine.extend(further.filter(|name| known.insert(name.clone())));
                }
                Slot::Names(mine)
            }
            (Slot::Types(mine), Slot::Types(theirs)) => {
                let both = mine.and(theirs);
                into.never |= both.is_empty();
                Slot::Types(both)
            }
            (Slot::Map(mut mine), Slot::Map(theirs)) => {
                mine.join(theirs, |own, node| merge(own, node, report));
                Slot::Map(mine)
            }
            (Slot::One(mut mine), Slot::One(theirs))
                if matches!(key, "items" | "additionalProperties" | "propertyNames") =>
            {
                merge(&mut mine, *theirs, report);
                Slot::One(mine)
            }
            (mine, _) => {
                report.gave_up(other.place, key, "another one stands in its place");
                mine
            }
        };
        into.keys.insert(key, both);
    }
}

/// What one says of the keys that it does not name holds for those that the other names.
fn rest_holds<'a>(says: &Node<'a>, names: &mut Node<'a>, report: &mut Report<'a>) {
    let Some(rest) = says.one("additionalProperties") else {
        return;
    };
    if says.has("patternProperties") || rest.is_any() {
        return;
    }
    let said = says.map("properties");
    let named = names.map_mut("properties");
    for (name, child) in named.into_iter().flat_map(Named::iter_mut) {
        if !said.is_some_and(|said| said.has(name)) {
            if !report.budget.copies(1, rest) {
                report.gave_up(says.place, "additionalProperties", UNSAID);
                return;
            }
            if child.has("$ref") {
                report.gave_up(says.place, "additionalProperties", UNSAID);
            }
            merge(child, rest.clone(), report);
        }
    }
}

/// The value of a keyword that two values demand; `None` where one value cannot say both.
fn plain(key: &str, mine: &Value, other: &Value) -> Option<Value> {
    let larger = |mine: &Value, other: &Value| {
        let larger = mine.as_f64()? >= other.as_f64()?;
        Some(if larger { mine.clone() } else { other.clone() })
    };
    let smaller = |mine: &Value, other: &Value| {
        let smaller = mine.as_f64()? <= other.as_f64()?;
        Some(if smaller { mine.clone() } else { other.clone() })
    };
    match key {
        _ if mine == other => Some(mine.clone()),
        "enum" => {
            let theirs = other.as_array()?;
            let mine = mine.as_array()?;
            if mine.len() <= FEW {
                let both = mine.iter().filter(|it| theirs.contains(it));
                return Some(both.cloned().collect());
            }
            let theirs: HashSet<&Value> = theirs.iter().collect();
            let both = mine.iter().filter(|it| theirs.contains(it));
            Some(both.cloned().collect())
        }
        "uniqueItems" => Some(Value::Bool(true)),
        _ if key.starts_with("min") || key == "exclusiveMinimum" => larger(mine, other),
        _ if key.starts_with("max") || key == "exclusiveMaximum" => smaller(mine, other),
        _ => None,
    }
}
