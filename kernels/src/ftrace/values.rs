//! Values as printed: which are numbers, and which only look like numbers.

use super::line::integer;

/// Information about a field's type before its values are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    Any,
    /// Always a text: names, and hexadecimal without 0x.
    Text,
    /// A number printed with leading zeros: `target_cpu=007`.
    Padded,
    /// A number of bytes printed with a `B` after it.
    Bytes,
}

impl Hint {
    /// Read a value as a number if it is one, else as a text.
    pub fn read(self, value: &[u8]) -> Value {
        match self {
            Hint::Text => Value::Text,
            _ if value.is_empty() => Value::Missing,
            Hint::Any => number(value).unwrap_or(Value::Text),
            Hint::Padded => integer(value).map(Value::Int).or_else(|| number(value)).unwrap_or(Value::Text),
            Hint::Bytes => number(value.strip_suffix(b"B").unwrap_or(value)).unwrap_or(Value::Text),
        }
    }
}

/// A peculiarity of one event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quirk {
    None,
    /// The field `size` is printed with a `B` after it.
    SizeInBytes,
    /// Old kernels print the field `ret` as `return`.
    ReturnIsRet,
    /// The number of a file is hexadecimal without 0x.
    HexadecimalFile,
    /// Registers and their values are hexadecimal without 0x.
    HexadecimalRegister,
}

impl Quirk {
    pub fn of(event: &[u8]) -> Quirk {
        match event {
            b"rss_stat" => Quirk::SizeInBytes,
            b"irq_handler_exit" => Quirk::ReturnIsRet,
            _ if event.starts_with(b"mm_filemap_") => Quirk::HexadecimalFile,
            _ if event.starts_with(b"regmap_") => Quirk::HexadecimalRegister,
            _ => Quirk::None,
        }
    }

    /// The usual name of a field.
    pub fn name(self, key: &[u8]) -> &[u8] {
        if self == Quirk::ReturnIsRet && key == b"return" { b"ret" } else { key }
    }

    /// The type that a field's name implies in this event.
    pub fn hint(self, key: &[u8]) -> Hint {
        match (self, key) {
            (Quirk::SizeInBytes, b"size") => Hint::Bytes,
            (Quirk::HexadecimalFile, b"ino") | (Quirk::HexadecimalRegister, b"reg" | b"val") => Hint::Text,
            _ => hint(key),
        }
    }
}

/// Fields that are names, lists or hexadecimal without 0x, even if a value looks like a decimal number.
const TEXTS: [&[u8]; 26] = [
    b"prev_state",
    b"caller",
    b"function",
    b"action",
    b"ip",
    b"parent_ip",
    b"args",
    b"cpus",
    b"cpumask",
    b"path",
    b"track",
    b"clone_flags",
    b"call_site",
    b"ptr",
    b"page",
    b"sa_handler",
    b"sa_flags",
    b"timer",
    b"hrtimer",
    b"work",
    b"skbaddr",
    b"skaddr",
    b"func",
    b"calltime",
    b"rettime",
    b"thermal_zone",
];

/// The type that a field's name implies in any event.
pub fn hint(key: &[u8]) -> Hint {
    if key.ends_with(b"comm") || key.ends_with(b"name") || TEXTS.contains(&key) {
        Hint::Text
    } else if key.ends_with(b"cpu") {
        Hint::Padded
    } else {
        Hint::Any
    }
}

/// A value as read.
pub enum Value {
    Int(i64),
    Uint(u64),
    Float(f64),
    Text,
    /// Nothing was printed where a number may stand.
    Missing,
}

/// A number with the same printed form, except for trailing zeros of floats.
fn number(text: &[u8]) -> Option<Value> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let (first, last) = (digits.first()?, digits.last()?);
    if !first.is_ascii_digit() || !last.is_ascii_digit() || text.len() > 40 {
        return None;
    }
    if let Some(number) = integer(digits) {
        let padded = *first == b'0' && (digits.len() > 1 || text.len() > 1);
        return (!padded).then_some(Value::Int(if text.len() > digits.len() { -number } else { number }));
    }
    let text = str::from_utf8(text).ok()?;
    let dots = digits.iter().filter(|b| **b == b'.').count();
    let plain = digits.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    match (plain, dots) {
        (true, 0) if *first != b'0' => text.parse().map(Value::Int).or_else(|_| text.parse().map(Value::Uint)).ok(),
        (true, 1) if *first != b'0' || digits.get(1) == Some(&b'.') => text.parse().map(Value::Float).ok(),
        _ => None,
    }
}
