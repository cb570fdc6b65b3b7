//! Which known key a writer may have meant.

/// The known name that is near to a name: at most two edits away, or a third of its length where
/// that is more.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let reach = (name.chars().count() / 3).max(2);
    let distance = |known: &str| strsim::osa_distance(&name, &known.to_lowercase());
    let known = known.into_iter().map(|known| (distance(known), known));
    let nearest = known.min()?;
    (nearest.0 <= reach).then_some(nearest.1)
}

/// The known name of which a name is a slip of the pen: an edit away, and with the case of another
/// letter or a joint of words in another style none at all.
pub(crate) fn nearest_slip(
    name: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let name = plain(name);
    let mut known = known.into_iter();
    known.find(|known| {
        let known = plain(known);
        // Short ones are an edit away from half of all words.
        let reach = usize::from(known.len() > 4);
        strsim::osa_distance(&name, &known) <= reach
    })
}
