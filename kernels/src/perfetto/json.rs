//! Write messages as JSON, by their descriptors.

use super::schema::{Field, Kind, Scalar, Schema};
use super::wire::{Fields, Value, varints};
use crate::json::push_quoted;

/// Messages deeper than this are shown as null.
const DEEPEST: usize = 48;
/// Maximum bytes of a bytes field that are shown.
const MOST_BYTES: usize = 4096;

/// An object or list under construction.
#[derive(Default)]
pub struct Json {
    pub text: Vec<u8>,
}

impl Json {
    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// Add a comma unless this is the first member.
    pub fn next(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
    }

    pub fn key(&mut self, key: &[u8]) {
        self.next();
        self.string(key);
        self.text.push(b':');
    }

    pub fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    pub fn string(&mut self, text: &[u8]) {
        push_quoted(&mut self.text, String::from_utf8_lossy(text).as_bytes());
    }

    pub fn int(&mut self, value: i64) {
        self.raw(value.to_string().as_bytes());
    }

    pub fn uint(&mut self, value: u64) {
        self.raw(value.to_string().as_bytes());
    }

    /// A float; NaN and infinities, which JSON lacks, become texts.
    pub fn float(&mut self, value: f64) {
        match value.is_finite() {
            true => self.raw(format!("{value:?}").as_bytes()),
            false => self.string(value.to_string().as_bytes()),
        }
    }

    pub fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    /// A number by its kind, enumerations by name.
    pub fn scalar(&mut self, schema: &Schema, kind: Kind, value: Scalar) {
        match (kind, value) {
            (Kind::Enum(number), Scalar::Int(value)) => match schema.value_name(number, value) {
                Some(name) => self.string(name.as_bytes()),
                None => self.int(value),
            },
            (_, Scalar::Int(value)) => self.int(value),
            (_, Scalar::Uint(value)) => self.uint(value),
            (_, Scalar::Float(value)) => self.float(value),
            (_, Scalar::Bool(value)) => self.bool(value),
        }
    }

    /// Bytes in hexadecimal, up to the maximum.
    pub fn hex(&mut self, bytes: &[u8]) {
        self.text.push(b'"');
        push_hex(&mut self.text, bytes, MOST_BYTES);
        self.text.push(b'"');
    }

    /// One value of a field.
    pub fn value(&mut self, schema: &Schema, kind: Kind, value: Value<'_>, depth: usize) {
        match (kind, value) {
            (Kind::Text, Value::Bytes(text)) => self.string(text),
            (Kind::Message(number), Value::Bytes(message)) => {
                self.message(schema, number, message, depth + 1);
            }
            (_, Value::Bytes(bytes)) => self.hex(bytes),
            _ => match (kind.scalar(value), value.number()) {
                (Some(scalar), _) => self.scalar(schema, kind, scalar),
                (None, Some(bits)) => self.uint(bits),
                (None, None) => self.raw(b"null"),
            },
        }
    }

    /// All values of a repeated field, packed or not.
    pub fn values<'a>(&mut self, schema: &Schema, kind: Kind, values: impl Iterator<Item = Value<'a>>, depth: usize) {
        self.text.push(b'[');
        for value in values {
            match (kind, value) {
                (Kind::Text | Kind::Bytes | Kind::Message(_) | Kind::Unknown, _) | (_, Value::Varint(_)) => {
                    self.next();
                    self.value(schema, kind, value, depth);
                }
                (_, Value::Bytes(bytes)) => unpacked(kind, bytes, |value| {
                    self.next();
                    self.value(schema, kind, value, depth);
                }),
                _ => {
                    self.next();
                    self.value(schema, kind, value, depth);
                }
            }
        }
        self.text.push(b']');
    }

    /// A message as an object.
    pub fn message(&mut self, schema: &Schema, number: usize, bytes: &[u8], depth: usize) {
        if depth > DEEPEST {
            return self.raw(b"null");
        }
        self.object(schema, number, Fields::of(bytes).collect(), depth);
    }

    /// Some fields of a message as an object; those without a descriptor are named `#` and their number.
    pub fn object(&mut self, schema: &Schema, number: usize, mut fields: Vec<(u32, Value<'_>)>, depth: usize) {
        fields.sort_by_key(|(number, _)| *number);
        self.text.push(b'{');
        for run in fields.chunk_by(|one, other| one.0 == other.0) {
            let Some((tag, first)) = run.first().copied() else {
                continue;
            };
            let field = schema.message(number).and_then(|message| message.field(tag));
            self.member(schema, field, (tag, first), run, depth);
        }
        self.text.push(b'}');
    }

    fn member(
        &mut self,
        schema: &Schema,
        field: Option<&Field>,
        (tag, first): (u32, Value<'_>),
        run: &[(u32, Value<'_>)],
        depth: usize,
    ) {
        match field {
            Some(field) => self.key(field.name.as_bytes()),
            None => self.key(format!("#{tag}").as_bytes()),
        }
        let kind = field.map_or(Kind::Unknown, |field| field.kind);
        if field.is_some_and(|field| field.repeated) || run.len() > 1 {
            self.values(schema, kind, run.iter().map(|(_, value)| *value), depth);
        } else {
            self.value(schema, kind, first, depth);
        }
    }
}

/// The values of a packed field.
pub fn unpacked(kind: Kind, bytes: &[u8], mut each: impl FnMut(Value<'_>)) {
    match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => {
            for bits in bytes.as_chunks::<8>().0 {
                each(Value::Fixed64(u64::from_le_bytes(*bits)));
            }
        }
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => {
            for bits in bytes.as_chunks::<4>().0 {
                each(Value::Fixed32(u32::from_le_bytes(*bits)));
            }
        }
        _ => varints(bytes).for_each(|bits| each(Value::Varint(bits))),
    }
}

/// Append bytes in hexadecimal, at most `most` of them.
pub fn push_hex(text: &mut Vec<u8>, bytes: &[u8], most: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes.iter().take(most) {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}
