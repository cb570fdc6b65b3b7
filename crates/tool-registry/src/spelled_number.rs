//! Numbers as they are spelled, where what is held of them may be less.

use crate::spelling::numbers;

/// Whether every number of a text that is held without a fraction is spelled without one, and to
/// the last digit: `5.0` and `1e3` are, `5.00000000000000000001` is not.
///
/// The text must be JSON.
pub(crate) fn whole_numbers_are_exact(text: &str) -> bool {
    numbers(text).all(|number| number.is_ok_and(|(_, number)| is_exact(number)))
}

/// The most digits of an integer that is compared; longer ones are beyond 64 bits.
const MOST_DIGITS: i64 = 30;

fn is_exact(number: &str) -> bool {
    let Ok(held) = number.parse::<f64>() else {
        return false;
    };
    if held.fract() != 0.0 {
        return true;
    }
    let unsigned = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut digits = format!("{whole}{fraction}");
    if digits.bytes().all(|digit| digit == b'0') {
        return true;
    }
    // An exponent beyond 64 bits is one of nothing, or of what is out of range anyway.
    let Ok(exponent) = exponent.parse::<i64>() else {
        return false;
    };
    let Ok(decimals) = i64::try_from(fraction.len()) else {
        return false;
    };
    let mut shift = exponent.saturating_sub(decimals);
    while shift < 0 && digits.ends_with('0') {
        digits.pop();
        shift += 1;
    }
    if shift < 0 {
        return false;
    }
    let digits = digits.trim_start_matches('0');
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if length.saturating_add(shift) > MOST_DIGITS {
        return true;
    }
    let zeros = "0".repeat(usize::try_from(shift).unwrap_or_default());
    let spelled = format!("{digits}{zeros}").parse::<i128>();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number of at most thirty digits without a fraction"
    )]
    let held = held.abs() as i128;
    spelled == Ok(held)
}

#[cfg(test)]
mod tests;
