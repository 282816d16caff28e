//! Values as texts in the form of indexes, and texts as JSON.

use std::fmt::Write;

/// A float: integers in all their digits, others in the fewest digits that are unique, as Python writes them.
pub fn float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan".to_owned()
        } else if value > 0.0 {
            "inf".to_owned()
        } else {
            "-inf".to_owned()
        };
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    if value.abs() >= 1e-4 {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => text,
    }
}

/// Append a JSON string.
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{:04x}", character as u32);
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// A JSON object of members whose values are JSON texts.
pub fn object<'a>(members: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut out = String::from("{");
    for (key, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        quote(&mut out, key);
        out.push(':');
        out.push_str(&value);
    }
    out.push('}');
    out
}

/// A JSON array of numbers.
pub fn array(numbers: &[u64]) -> String {
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", texts.join(","))
}
