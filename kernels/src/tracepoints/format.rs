//! Parse the kernel's description of an event (a `format` file) into its number, fields and print format.

use crate::ftrace::table::usual_name;
use crate::input::bytes::number_of;

/// Maximum number of fields of an event; the kernel has at most a few dozen.
const FIELD_LIMIT: usize = 512;

/// The representation of numbers in the records of a trace.
#[derive(Clone, Copy)]
pub struct Order {
    pub big: bool,
    /// Bytes of the kernel's `long`.
    pub long: usize,
}

impl Order {
    /// The first 1, 2, 4 or 8 bytes as an unsigned number.
    #[inline]
    pub fn number(self, bytes: &[u8], size: usize) -> Option<u64> {
        let bytes = bytes.get(..size)?;
        matches!(size, 1 | 2 | 4 | 8).then(|| number_of(bytes, self.big))
    }
}

/// The type of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// 1, 2, 4 or 8 bytes.
    Number,
    /// Text that ends with a zero byte or at the end of the field; a size of 0 extends to the record's end.
    Text,
    /// Values of this many bytes.
    Array(usize),
    /// The place of the text: `__data_loc`, or relative to the field's end: `__rel_loc`.
    DynamicText {
        relative: bool,
    },
    DynamicArray {
        element: usize,
        relative: bool,
    },
    /// Bits of CPUs.
    DynamicBits {
        relative: bool,
    },
}

/// One field of an event.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub offset: usize,
    pub size: usize,
    pub signed: bool,
    pub pointer: bool,
    pub shape: Shape,
}

impl Field {
    /// The bytes of a value that may be elsewhere in the record.
    #[inline]
    pub fn bytes<'a>(&self, record: &'a [u8], order: Order) -> Option<&'a [u8]> {
        let relative = match self.shape {
            Shape::Number => return record.get(self.offset..self.offset.checked_add(self.size)?),
            Shape::Text | Shape::Array(_) if self.size == 0 => return record.get(self.offset..),
            Shape::Text | Shape::Array(_) => {
                return record.get(self.offset..self.offset.checked_add(self.size)?);
            }
            Shape::DynamicText { relative }
            | Shape::DynamicArray { relative, .. }
            | Shape::DynamicBits { relative } => relative,
        };
        let place = order.number(record.get(self.offset..)?, 4)?;
        let length = (place >> 16) as usize;
        let mut at = (place & 0xffff) as usize;
        if relative {
            at = at.checked_add(self.offset)?.checked_add(4)?;
        }
        record.get(at..at.checked_add(length)?)
    }

    /// A signed number.
    #[inline]
    pub fn number(&self, record: &[u8], order: Order) -> Option<i64> {
        let value = order.number(record.get(self.offset..)?, self.size)?;
        Some(match self.signed {
            true => extended(value, self.size),
            false => value.cast_signed(),
        })
    }
}

/// A signed number of `size` bytes.
#[inline]
pub fn extended(value: u64, size: usize) -> i64 {
    match size {
        1 => i64::from(value as i8),
        2 => i64::from(value as i16),
        4 => i64::from(value as i32),
        _ => value.cast_signed(),
    }
}

/// An event's description.
#[derive(Clone, Debug, Default)]
pub struct Format {
    pub name: String,
    /// The common fields of all events: their names begin with `common_`.
    pub common: Vec<Field>,
    pub fields: Vec<Field>,
    /// `"comm=%s", REC->comm`
    pub print: Vec<u8>,
}

impl Format {
    /// A field by its name; common ones are searched last.
    pub fn find(&self, name: &[u8]) -> Option<&Field> {
        let named = |one: &&Field| one.name.as_bytes() == name;
        self.fields.iter().find(named).or_else(|| self.common.iter().find(named))
    }
}

/// The name and number of an event, without its fields.
pub fn head(text: &[u8]) -> Option<(&[u8], u32)> {
    let mut name = None;
    for line in text.split(|b| *b == b'\n').take(16) {
        if let Some(rest) = line.strip_prefix(b"name:") {
            name = Some(rest.trim_ascii());
        } else if let Some(rest) = line.strip_prefix(b"ID:") {
            return Some((name?, decimal(rest.trim_ascii())?.try_into().ok()?));
        }
    }
    None
}

/// Read the text of a `format` file; None if it is invalid.
pub fn parse(text: &[u8], order: Order) -> Option<Format> {
    let (name, _) = head(text)?;
    let mut format = Format { name: String::from_utf8_lossy(usual_name(name)).into_owned(), ..Format::default() };
    for line in text.split(|b| *b == b'\n') {
        let line = line.trim_ascii();
        if let Some(rest) = line.strip_prefix(b"print fmt:") {
            format.print = rest.trim_ascii().to_vec();
        } else if let Some(rest) = line.strip_prefix(b"field:")
            && format.fields.len() + format.common.len() < FIELD_LIMIT
        {
            let field = field(rest, order)?;
            match field.name.starts_with("common_") {
                true => format.common.push(field),
                false => format.fields.push(field),
            }
        }
    }
    Some(format)
}

fn field(text: &[u8], order: Order) -> Option<Field> {
    let mut parts = text.split(|b| *b == b';');
    let declared = parts.next()?.trim_ascii();
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        let mut pair = part.trim_ascii().splitn(2, |b| *b == b':');
        let (Some(key), Some(value)) = (pair.next(), pair.next()) else {
            continue;
        };
        let value = decimal(value.trim_ascii());
        match key {
            b"offset" => offset = value,
            b"size" => size = value,
            b"signed" => signed = value == Some(1),
            _ => {}
        }
    }
    let (kind, name, count) = declaration(declared)?;
    let size = size?;
    let pointer = kind.contains(&b'*');
    Some(Field {
        name: String::from_utf8_lossy(name).into_owned(),
        offset: offset?,
        size,
        signed,
        pointer: pointer && !kind.starts_with(b"__"),
        shape: shape(kind, count, size, order),
    })
}

/// A type, a name, and the text in brackets.
type Declared<'a> = (&'a [u8], &'a [u8], Option<&'a [u8]>);

/// The type, the name and the text in the brackets of `char comm[16]` or `__data_loc char[] name`.
fn declaration(text: &[u8]) -> Option<Declared<'_>> {
    let mut rest = text;
    let mut count = None;
    if let Some(head) = rest.strip_suffix(b"]") {
        let open = memchr::memrchr(b'[', head)?;
        count = Some(head[open + 1..].trim_ascii());
        rest = head[..open].trim_ascii_end();
    }
    let letters = rest.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let (kind, name) = rest.split_at(rest.len() - letters);
    let kind = kind.trim_ascii();
    if name.is_empty() || kind.is_empty() {
        return None;
    }
    if count.is_none() && kind.ends_with(b"]") {
        let open = memchr::memrchr(b'[', kind)?;
        count = Some(&kind[open + 1..kind.len() - 1]);
    }
    Some((kind, name, count))
}

fn shape(kind: &[u8], count: Option<&[u8]>, size: usize, order: Order) -> Shape {
    let words = || kind.split(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    let has = |word: &[u8]| words().any(|one| one == word);
    let text = has(b"char") && !has(b"unsigned") && !has(b"signed");
    let relative = kind.starts_with(b"__rel_loc");
    if relative || kind.starts_with(b"__data_loc") {
        return match (text, has(b"cpumask_t")) {
            (_, true) => Shape::DynamicBits { relative },
            (true, _) => Shape::DynamicText { relative },
            _ => Shape::DynamicArray { element: element(words().collect(), order), relative },
        };
    }
    match count {
        Some(_) if text && !kind.contains(&b'*') => Shape::Text,
        Some(count) => match decimal(count) {
            Some(count @ 1..) if size.is_multiple_of(count) && size > 0 => Shape::Array(size / count),
            _ => Shape::Array(element(words().collect(), order)),
        },
        None if matches!(size, 1 | 2 | 4 | 8) => Shape::Number,
        None => Shape::Array(1),
    }
}

/// Bytes of a value by the words of its type; 1 if they do not determine it.
fn element(words: Vec<&[u8]>, order: Order) -> usize {
    let has = |word: &[u8]| words.contains(&word);
    let ends = |digits: &[u8]| {
        words.iter().any(|word| word.ends_with(digits) || word.strip_suffix(b"_t").is_some_and(|w| w.ends_with(digits)))
    };
    if has(b"long") {
        let twice = words.iter().filter(|word| **word == b"long").count() > 1;
        return if twice { 8 } else { order.long };
    }
    if ends(b"64") {
        8
    } else if ends(b"32") || has(b"int") || has(b"unsigned") && !has(b"char") && !has(b"short") {
        4
    } else if ends(b"16") || has(b"short") {
        2
    } else if has(b"size_t") {
        order.long
    } else {
        1
    }
}

/// A number of decimal digits, if it fits.
fn decimal(text: &[u8]) -> Option<usize> {
    str::from_utf8(text).ok()?.parse().ok()
}
