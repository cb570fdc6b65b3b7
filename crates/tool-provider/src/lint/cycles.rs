//! References of a schema that lead back to where they stand.

use std::collections::BTreeMap;

use super::site::{Site, Sites, Target};
use crate::groups::groups;

/// References that lead back to where they stand, each with the place of the reference. With
/// `demanded`, only those that pass no property that may be left out.
///
/// It takes time in proportion to the references and the levels that they stand at.
pub(crate) fn cycles(sites: &Sites<'_>, demanded: bool) -> Vec<String> {
    let links: Vec<(&Site<'_>, String)> = sites
        .objects
        .iter()
        .filter_map(|site| match sites.target(site, site.text("$ref")?) {
            Target::Place(to) => Some((site, to)),
            _ => None,
        })
        .collect();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, to) in &links {
        let next = places.len();
        places.entry(to).or_insert(next);
    }
    // Each reference, with the places that it stands in and the one that it leads to.
    let mut steps = Vec::new();
    for (site, to) in &links {
        let Some(to) = places.get(to.as_str()) else {
            continue;
        };
        let around = around(&site.pointer).filter(|place| {
            !(in_definitions(place, site) || (demanded && site.optional > place.len()))
        });
        let from: Vec<usize> = around.filter_map(|it| places.get(it).copied()).collect();
        steps.push((*site, from, *to));
    }
    let mut ahead = vec![Vec::new(); places.len()];
    for (_, from, to) in &steps {
        for place in from {
            ahead
                .get_mut(*place)
                .into_iter()
                .for_each(|it| it.push(*to));
        }
    }
    // A reference is on a cycle when it stands in a place that its target leads to.
    let groups = groups(&ahead);
    let turns = steps.iter().filter(|(_, from, to)| {
        let group = groups.get(*to);
        from.iter().any(|place| groups.get(*place) == group)
    });
    turns.map(|(site, ..)| site.at("$ref")).collect()
}

/// The places that a place stands in, and itself.
fn around(pointer: &str) -> impl Iterator<Item = &str> {
    let above = pointer.match_indices('/').map(|(at, _)| at);
    above
        .filter_map(|at| pointer.get(..at))
        .chain(std::iter::once(pointer))
}

/// Whether a reference stands in a definition below the place, which no instance passes.
fn in_definitions(place: &str, site: &Site<'_>) -> bool {
    let rest = site.pointer.strip_prefix(place).unwrap_or_default();
    rest.starts_with("/$defs/") || rest.starts_with("/definitions/")
}
