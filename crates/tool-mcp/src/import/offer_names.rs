//! Under which names and URIs things of a server are offered.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tool_core::{Identity, Namespace, Source, ToolName, WireName};

use crate::offerings::OfferKind;

/// The entries of a server with the key under which each is offered and the server's own.
pub(crate) fn named(
    server: &str,
    kind: OfferKind,
    entries: Vec<Value>,
) -> impl Iterator<Item = (String, String, Map<String, Value>)> {
    let source = Namespace::new(server).map(Source::Server);
    let mut seen = HashSet::new();
    entries.into_iter().filter_map(move |entry| {
        let Value::Object(mut definition) = entry else {
            return None;
        };
        let own = definition.get(kind.key_member())?.as_str()?.to_owned();
        if !seen.insert(own.clone()) {
            return None;
        }
        let key = match kind {
            OfferKind::Prompt => {
                let name = ToolName::new(&own).ok()?;
                let identity = Identity::new(source.as_ref().ok()?, name);
                WireName::of(&identity).as_str().to_owned()
            }
            OfferKind::Resource | OfferKind::Template => own.clone(),
        };
        definition.insert(kind.key_member().to_owned(), key.clone().into());
        Some((key, own, definition))
    })
}

/// Whether a URI can come of a template: the parts outside of braces are there, in their order, and
/// the first of them has a whole scheme, or one server could have everything.
pub(crate) fn fits(template: &str, uri: &str) -> bool {
    let scheme = template.split('{').next().unwrap_or_default();
    if !scheme.contains(':') {
        return false;
    }
    let mut rest = uri;
    for (index, part) in template.split('{').enumerate() {
        let literal = match (index, part.split_once('}')) {
            (0, _) => part,
            (_, Some((_, literal))) => literal,
            (_, None) => return false,
        };
        if index == 0 {
            let Some(behind) = rest.strip_prefix(literal) else {
                return false;
            };
            rest = behind;
        } else if literal.is_empty() {
            // Whatever stands in for the last place.
        } else {
            let Some((_, behind)) = rest.split_once(literal) else {
                return false;
            };
            rest = behind;
        }
    }
    template.ends_with('}') || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_uri_fits_a_template_whose_fixed_parts_it_holds_in_order() {
        assert!(fits(
            "test://template/{id}/data",
            "test://template/123/data"
        ));
        assert!(fits("file:///{+path}", "file:///a/b"));
        assert!(fits("a://b", "a://b"));
        assert!(!fits("test://template/{id}/data", "test://other/123/data"));
        assert!(!fits("test://template/{id}/data", "test://template/123"));
        assert!(!fits("test://{id}/x", "test://1/x/y"));
        assert!(!fits("broken://{id", "broken://1"));
    }

    #[test]
    fn a_template_without_a_scheme_is_fitted_by_nothing() {
        assert!(!fits("{+any}", "file:///a"));
        assert!(!fits("file{+rest}", "file:///a"));
        assert!(!fits("{scheme}://x", "file://x"));
    }
}
