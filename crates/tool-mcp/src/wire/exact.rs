//! Numbers that the value model cannot hold to the last digit.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::clean;

/// The key of `_meta` under which stand numbers that were rounded, with every digit.
const ROUNDED: &str = "tool-runtime/rounded";
/// The key under which it says how many more there are.
const MORE: &str = "tool-runtime/rounded_more";
/// The most numbers of one message of which every digit is told.
const MOST: usize = 64;
/// The longest pointer that is told, in bytes: a server could repeat a long key for each number.
const MOST_POINTER: usize = 1024;
/// The most that are counted beside them.
const MOST_COUNTED: u64 = 10_000;
/// A number of so few characters always fits.
const SURELY_FITS: usize = 15;

/// Numbers that were rounded when they were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounded {
    /// The digits as they came, by the JSON pointer to where the number stands once texts are
    /// cleaned.
    digits: Map<String, Value>,
    more: u64,
}

impl Rounded {
    /// Says it in `_meta`.
    pub(crate) fn tell(self, meta: &mut Map<String, Value>) {
        meta.insert(ROUNDED.to_owned(), self.digits.into());
        if self.more > 0 {
            meta.insert(MORE.to_owned(), self.more.into());
        }
    }

    fn add(&mut self, pointer: &str, written: &str) {
        match self.digits.len() < MOST && pointer.len() <= MOST_POINTER {
            true => drop(self.digits.insert(pointer.to_owned(), written.into())),
            false => self.more += 1,
        }
    }
}

/// Reads a value, and tells which of its numbers are no longer what was written.
pub(crate) fn read(raw: &RawValue) -> serde_json::Result<(Value, Option<Box<Rounded>>)> {
    let value: Value = serde_json::from_str(raw.get())?;
    if !has_long_number(raw.get()) {
        return Ok((value, None));
    }
    let mut rounded = Rounded::default();
    walk(raw, &mut String::new(), &mut rounded);
    let any = !rounded.digits.is_empty() || rounded.more > 0;
    Ok((value, any.then(|| Box::new(rounded))))
}

/// Whether any number outside of a text is long enough to be at risk: one pass over the bytes.
fn has_long_number(text: &str) -> bool {
    let (mut in_string, mut escaped, mut length) = (false, false, 0_usize);
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' => {
                length += 1;
                if length > SURELY_FITS {
                    return true;
                }
                continue;
            }
            _ => {}
        }
        length = 0;
    }
    false
}

fn walk(raw: &RawValue, pointer: &mut String, rounded: &mut Rounded) {
    if rounded.more >= MOST_COUNTED || !has_long_number(raw.get()) {
        return;
    }
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let Ok(members) = serde_json::from_str::<Vec2<'_>>(text) else {
                return;
            };
            for (key, member) in members.0 {
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&clean::text(&key).replace('~', "~0").replace('/', "~1"));
                walk(member, pointer, rounded);
                pointer.truncate(length);
            }
        }
        Some(b'[') => {
            let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
                return;
            };
            for (index, item) in items.into_iter().enumerate() {
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&index.to_string());
                walk(item, pointer, rounded);
                pointer.truncate(length);
            }
        }
        Some(b'-' | b'0'..=b'9') if !fits(text) => rounded.add(pointer, text),
        _ => {}
    }
}

/// Whether a number, read and written again, has the value that it had.
fn fits(text: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    digits(&value.to_string()) == digits(text)
}

/// The significant digits and the power of ten of the last one: equal for equal values.
fn digits(text: &str) -> (bool, String, i64) {
    let negative = text.starts_with('-');
    let text = text.trim_start_matches('-');
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent
        .trim_start_matches('+')
        .parse()
        .unwrap_or(i64::MAX / 2);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_end_matches('0');
    let zeros = i64::try_from(all.len() - kept.len()).unwrap_or(0);
    let power = exponent - i64::try_from(fraction.len()).unwrap_or(0) + zeros;
    let kept = kept.trim_start_matches('0');
    if kept.is_empty() {
        return (negative, String::new(), 0);
    }
    (negative, kept.to_owned(), power)
}

/// The members of an object in their order, each as it came.
struct Vec2<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Vec2<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Vec2<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Vec2<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Vec2(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::read;

    fn rounded(text: &str) -> Vec<(String, String)> {
        let raw = RawValue::from_string(text.to_owned()).expect("it is JSON");
        let (_, rounded) = read(&raw).expect("it can be read");
        let digits = rounded.map(|rounded| rounded.digits).unwrap_or_default();
        digits
            .into_iter()
            .map(|(pointer, written)| (pointer, written.as_str().expect("a text").to_owned()))
            .collect()
    }

    #[test]
    fn what_the_value_model_holds_is_not_told_of() {
        for text in [
            "18446744073709551615",
            "-9223372036854775808",
            "9007199254740993",
            "0.1",
            "1.10",
            "1e2",
            "123456789012345.6",
            "0.30000000000000004",
            "100000000000000000000000",
            r#"{"text": "123456789012345678901234567890"}"#,
        ] {
            assert_eq!(rounded(text), [], "{text}");
        }
    }

    #[test]
    fn what_is_rounded_is_told_with_its_place_and_every_digit() {
        let text =
            r#"{"a/b": [1, {"c": 123456789012345678901234567891}], "d": 0.12345678901234567891}"#;
        assert_eq!(
            rounded(text),
            [
                (
                    "/a~1b/1/c".to_owned(),
                    "123456789012345678901234567891".to_owned()
                ),
                ("/d".to_owned(), "0.12345678901234567891".to_owned()),
            ]
        );
    }
}
