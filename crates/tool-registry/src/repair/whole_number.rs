//! A number without a fraction, where an integer is wanted.

use serde_json::Number;

use super::kinds::Kinds;

/// The first number beyond 64 bits, with and without a sign.
const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;
const UNSIGNED_END: f64 = 18_446_744_073_709_551_616.0;

/// The same number as an integer, if the place takes integers and no other numbers.
pub(super) fn integer(number: &Number, taken: Kinds) -> Option<Number> {
    if !number.is_f64() || !taken.has(Kinds::INTEGER) || taken.has(Kinds::FRACTION) {
        return None;
    }
    let held = number.as_f64().filter(|held| held.fract() == 0.0)?;
    if (-SIGNED_END..SIGNED_END).contains(&held) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it has no fraction and is in range"
        )]
        let integer = held as i64;
        Some(Number::from(integer))
    } else if (0.0..UNSIGNED_END).contains(&held) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it has no fraction and is in range"
        )]
        let integer = held as u64;
        Some(Number::from(integer))
    } else {
        None
    }
}
