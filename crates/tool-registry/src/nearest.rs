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
    let lower = name.to_lowercase();
    let letters = Letters::of(&lower);
    let length = name.chars().count();
    let reach = (length / 3).max(2);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|known| known.chars().count().abs_diff(length) <= reach)
        .filter_map(|known| {
            let known_lower = known.to_lowercase();
            // Most names are told to be far by their letters alone.
            let far = letters.least_edits(&Letters::of(&known_lower)) > reach;
            let distance = || strsim::osa_distance(&lower, &known_lower);
            (!far).then(|| (distance(), known))
        })
        .filter(|(distance, _)| *distance <= reach)
        .collect();
    near.sort_unstable();
    near.into_iter()
        .take(MOST)
        .map(|(_, known)| known.to_owned())
        .collect()
}

/// How often each letter stands in a name, whatever their order. Letters beyond ASCII share the
/// places of others.
struct Letters([u16; 128]);

impl Letters {
    fn of(name: &str) -> Self {
        let mut letters = [0_u16; 128];
        for letter in name.chars() {
            let place = usize::try_from(u32::from(letter) % 128).unwrap_or_default();
            if let Some(times) = letters.get_mut(place) {
                *times = times.saturating_add(1);
            }
        }
        Self(letters)
    }

    /// The fewest edits that can make one name of the other: each puts in, takes out or replaces
    /// one letter, or leaves the letters what they are.
    fn least_edits(&self, other: &Self) -> usize {
        let (mut missing, mut over) = (0, 0);
        for (own, other) in self.0.iter().zip(other.0) {
            missing += usize::from(other.saturating_sub(*own));
            over += usize::from(own.saturating_sub(other));
        }
        missing.max(over)
    }
}
