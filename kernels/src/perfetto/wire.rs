//! Parse the bytes of a protobuf message into its fields, one after the other.

use quick_protobuf::BytesReader;

/// A field's value in the wire format.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bits of a number; bytes have none.
    #[inline]
    pub fn number(self) -> Option<u64> {
        match self {
            Value::Varint(bits) | Value::Fixed64(bits) => Some(bits),
            Value::Fixed32(bits) => Some(u64::from(bits)),
            Value::Bytes(_) => None,
        }
    }

    #[inline]
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// The fields of a message; it ends early, and records that, if the bytes are invalid.
#[derive(Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    damaged: bool,
}

impl<'a> Fields<'a> {
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0, damaged: false }
    }

    /// Whether the message ended in the middle of a field.
    pub fn damaged(&self) -> bool {
        self.damaged
    }

    #[inline(always)]
    fn varint(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        if first < 0x80 {
            self.at += 1;
            return Some(u64::from(first));
        }
        let second = *self.bytes.get(self.at + 1)?;
        if second < 0x80 {
            self.at += 2;
            return Some(u64::from(first & 0x7f) | u64::from(second) << 7);
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?;
        if let Some(eight) = rest.first_chunk()
            && let Some((value, length)) = of_eight(u64::from_le_bytes(*eight))
        {
            self.at += length;
            return Some(value);
        }
        let mut reader = BytesReader::from_bytes(rest);
        let value = reader.read_varint64(rest).ok()?;
        self.at += rest.len() - reader.len();
        Some(value)
    }

    #[inline(always)]
    fn taken(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let bytes = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    #[inline(always)]
    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.taken(length)?)
            }
            1 => Value::Fixed64(u64::from_le_bytes(self.taken(8)?.try_into().ok()?)),
            5 => Value::Fixed32(u32::from_le_bytes(self.taken(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, Value<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, Value<'a>)> {
        self.one()
    }
}

impl<'a> Fields<'a> {
    /// The next field: as `next`, but always inlined.
    #[inline(always)]
    pub fn one(&mut self) -> Option<(u32, Value<'a>)> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let found = self.field();
        if found.is_none() {
            self.damaged = true;
            self.at = self.bytes.len();
        }
        found
    }
}

/// The number at the start of eight bytes, and its length in bytes; None if it is longer.
#[inline]
fn of_eight(bytes: u64) -> Option<(u64, usize)> {
    let ends = !bytes & 0x8080_8080_8080_8080;
    if ends == 0 {
        return None;
    }
    let mut value = bytes & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
    value = (value & 0x7f00_7f00_7f00_7f00) >> 1 | value & 0x007f_007f_007f_007f;
    value = (value & 0x3fff_0000_3fff_0000) >> 2 | value & 0x0000_3fff_0000_3fff;
    value = (value & 0x0fff_ffff_0000_0000) >> 4 | value & 0x0000_0000_0fff_ffff;
    Some((value, ends.trailing_zeros() as usize / 8 + 1))
}

/// The numbers of a packed field.
pub fn varints(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut fields = Fields::of(bytes);
    std::iter::from_fn(move || {
        if fields.at >= bytes.len() {
            return None;
        }
        let value = fields.varint();
        if value.is_none() {
            fields.at = bytes.len();
        }
        value
    })
}

/// The first value of a field.
pub fn find(message: &[u8], number: u32) -> Option<Value<'_>> {
    Fields::of(message).find_map(|(found, value)| (found == number).then_some(value))
}

/// The first value of a field of numbers.
pub fn number(message: &[u8], number: u32) -> Option<u64> {
    find(message, number)?.number()
}

/// The first value of a field of texts, bytes or messages.
pub fn bytes(message: &[u8], number: u32) -> Option<&[u8]> {
    find(message, number)?.bytes()
}

/// A zigzag number.
#[inline]
pub fn zigzag(bits: u64) -> i64 {
    (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()
}
