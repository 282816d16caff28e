//! Convert decimal numbers, as written, into integers in thousandths, without going through floats.

use crate::json::Token;

/// Digits beyond these do not change a number that is rounded to thousandths and fits into 64 bits.
const MOST_DIGITS: u32 = 36;
const MOST_EXPONENT: i64 = 400;

/// Convert microseconds, given as a number or a string with one, into nanoseconds, rounded to the nearest; None if the
/// input is invalid or too large.
#[inline]
pub fn nanoseconds(token: Token, text: &[u8]) -> Option<i64> {
    match token {
        Token::Int(value) => value.checked_mul(1000),
        Token::Float(span) => {
            let text = span.of(text);
            usual(text).or_else(|| thousandths(text))
        }
        Token::Text(inside) => thousandths(inside.span.of(text).trim_ascii()),
        _ => None,
    }
}

/// The same for a text of digits with one to three after its point, as most writers have it.
#[inline]
fn usual(text: &[u8]) -> Option<i64> {
    const MOST: usize = 18;
    if text.len() > MOST {
        return None;
    }
    let point = text.len().checked_sub(2)?;
    let point = (point.saturating_sub(2)..=point).find(|at| text.get(*at) == Some(&b'.'))?;
    let mut value = 0i64;
    for byte in text.get(..point)?.iter().chain(text.get(point + 1..)?) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(match text.len() - point {
        2 => value * 100,
        3 => value * 10,
        _ => value,
    })
}

/// A decimal number times 1000.
pub fn thousandths(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (mantissa, places, used) = mantissa(digits)?;
    let exponent = match digits.get(used) {
        None => 0,
        Some(b'e' | b'E') => exponent(digits.get(used + 1..)?)?,
        Some(_) => return None,
    };
    let value = scaled(mantissa, exponent.checked_add(3)?.checked_sub(places)?)?;
    i64::try_from(if negative { -value } else { value }).ok()
}

/// The digits as one number, the number of decimals, and the bytes that they take.
fn mantissa(text: &[u8]) -> Option<(i128, i64, usize)> {
    let (mut value, mut places, mut kept, mut used) = (0i128, 0i64, 0u32, 0usize);
    let (mut point, mut any) = (false, false);
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                any = true;
                if kept < MOST_DIGITS {
                    value = value * 10 + i128::from(byte - b'0');
                    kept += u32::from(value > 0);
                    places += i64::from(point);
                } else if !point {
                    places -= 1;
                }
            }
            b'.' if !point => point = true,
            _ => break,
        }
        used += 1;
    }
    any.then_some((value, places, used))
}

fn exponent(text: &[u8]) -> Option<i64> {
    let number = std::str::from_utf8(text).ok()?.parse::<i64>().ok()?;
    Some(number.clamp(-MOST_EXPONENT, MOST_EXPONENT))
}

/// `mantissa * 10 ^ power`, rounded half away from zero.
fn scaled(mantissa: i128, power: i64) -> Option<i128> {
    if mantissa == 0 {
        return Some(0);
    }
    let ten = |power: i64| 10i128.checked_pow(u32::try_from(power).ok()?);
    if power >= 0 {
        return mantissa.checked_mul(ten(power)?);
    }
    let Some(divisor) = ten(-power) else {
        return Some(0);
    };
    Some((mantissa + divisor / 2) / divisor)
}

/// Any number, or a text with one, as a float.
pub fn number(token: Token, text: &[u8]) -> Option<f64> {
    match token {
        Token::Int(value) => Some(value as f64),
        Token::Uint(value) => Some(value as f64),
        Token::Bool(value) => Some(f64::from(u8::from(value))),
        Token::Float(span) | Token::Huge(span) => float(span.of(text)),
        Token::Text(inside) => float(inside.span.of(text).trim_ascii()),
        Token::Absent | Token::Null | Token::Nested(_) => None,
    }
}

fn float(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
