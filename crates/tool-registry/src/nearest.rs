//! Which known name a caller may have meant.

/// The most names that are offered.
const MOST: usize = 3;
/// The longest name that is compared, in bytes. The work grows with the product of the lengths,
/// and the name comes from outside.
const LONGEST: usize = 256;

/// The known names that are near to a name, nearest first and then by name.
///
/// Near is a distance of at most two edits, or of a third of the name's length where that is more.
/// Nothing is near to a name that is longer than any that a person would write.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let reach = (name.chars().count() / 3).max(2);
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        // A name is never near to one that is longer by more than the reach.
        .filter(|known| known.len().abs_diff(name.len()) <= reach * 4)
        .map(|known| (strsim::osa_distance(&lower, &known.to_lowercase()), known))
        .filter(|(distance, _)| *distance <= reach)
        .collect();
    near.sort_unstable();
    near.into_iter()
        .take(MOST)
        .map(|(_, known)| known.to_owned())
        .collect()
}
