//! Which known key a writer may have meant.

/// The known name that is near to a name: at most two edits away, or a third of its length where
/// that is more.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let reach = (length / 3).max(2);
    // One that is longer by more takes more edits. They need not be counted: names of servers may
    // be of any length.
    let short = |known: &&str| known.chars().nth(length + reach).is_none();
    let distance = |known: &str| strsim::osa_distance(&name, &known.to_lowercase());
    let known = known.into_iter().filter(short);
    let nearest = known.map(|known| (distance(known), known)).min()?;
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

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_name_of_any_length_costs_nothing_but_a_look() {
        // Counting these edits would take hours.
        let huge = "name".repeat(4 * 1024 * 1024);
        let known = [huge.as_str(), "nama", "other"];
        let name = "name".repeat(25_000);
        assert_eq!(nearest(&name, known), None);
        assert_eq!(nearest("name", known), Some("nama"));
        assert_eq!(nearest("names", ["namesxx"]), Some("namesxx"));
        assert_eq!(nearest("names", ["namesxxx"]), None);
    }
}
