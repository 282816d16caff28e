//! The exact minimum and maximum of values of mixed types, as texts.

use std::cmp::Ordering;

use super::text::float;

/// Length of a text, in bytes, from which it is not useful as a bound.
const LONGEST: usize = 4096;

/// The types and the ranges of values.
#[derive(Default)]
pub struct Range {
    whole: Option<(i128, i128)>,
    float: Option<(f64, f64)>,
    text: Option<(Vec<u8>, Vec<u8>)>,
    flags: Option<(&'static str, &'static str)>,
    /// Some float is NaN or infinite.
    endless: bool,
}

impl Range {
    /// Include a range of integers; empty, if the minimum is above the maximum.
    pub fn whole(&mut self, min: i128, max: i128) {
        if min <= max {
            let (low, high) = self.whole.unwrap_or((min, max));
            self.whole = Some((low.min(min), high.max(max)));
        }
    }

    #[inline]
    pub fn float(&mut self, value: f64) {
        if value.is_finite() {
            let (low, high) = self.float.unwrap_or((value, value));
            self.float = Some((low.min(value), high.max(value)));
        } else {
            self.endless = true;
        }
    }

    pub fn text(&mut self, value: &[u8]) {
        match &mut self.text {
            None => self.text = Some((value.to_vec(), value.to_vec())),
            Some((low, high)) => {
                if value < low.as_slice() {
                    *low = value.to_vec();
                } else if value > high.as_slice() {
                    *high = value.to_vec();
                }
            }
        }
    }

    /// Include `false` or `true`, in this order.
    pub fn flag(&mut self, text: &'static str) {
        let (low, _) = self.flags.unwrap_or((text, text));
        self.flags = Some((low, text));
    }

    fn numbers(&self) -> bool {
        self.whole.is_some() || self.float.is_some() || self.endless
    }

    /// Both bounds; None without values, with values that do not compare, and with floats without bounds.
    pub fn texts(self) -> Option<(String, String)> {
        if self.endless || kind(&self) == "mixed" {
            return None;
        }
        if let Some((low, high)) = self.text {
            let fits = low.len() <= LONGEST && high.len() <= LONGEST;
            return Some((String::from_utf8(low).ok()?, String::from_utf8(high).ok()?)).filter(|_| fits);
        }
        if let Some((low, high)) = self.flags {
            return Some((low.to_owned(), high.to_owned()));
        }
        match (self.whole, self.float) {
            (Some((low, high)), None) => Some((low.to_string(), high.to_string())),
            (None, Some((low, high))) => Some((float(low), float(high))),
            (Some(whole), Some(floats)) => {
                let low = match compare(whole.0, floats.0) {
                    Ordering::Greater => float(floats.0),
                    _ => whole.0.to_string(),
                };
                let high = match compare(whole.1, floats.1) {
                    Ordering::Less => float(floats.1),
                    _ => whole.1.to_string(),
                };
                Some((low, high))
            }
            (None, None) => None,
        }
    }
}

/// The type of values as named in an index.
pub fn kind(range: &Range) -> &'static str {
    let texts = range.text.is_some();
    let flags = range.flags.is_some();
    match (texts, flags, range.numbers()) {
        (_, _, false) if !(texts && flags) => "string",
        (false, false, true) => match range.whole {
            _ if range.float.is_some() || range.endless => "double",
            Some((low, _)) if low < 0 => "int",
            _ => "uint",
        },
        _ => "mixed",
    }
}

/// Compare a 64-bit number with a finite float, exactly.
fn compare(whole: i128, float: f64) -> Ordering {
    // Casts saturate far beyond 64 bits, so the result is exact.
    whole.cmp(&(float.floor() as i128)).then(if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}
