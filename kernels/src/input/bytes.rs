//! Read numbers and strings from bytes in memory, in either byte order, with checked bounds.

/// A number of 2 bytes.
#[inline]
pub fn u16_of(raw: [u8; 2], big: bool) -> u16 {
    if big { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) }
}

/// A number of 4 bytes.
#[inline]
pub fn u32_of(raw: [u8; 4], big: bool) -> u32 {
    if big { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) }
}

/// A number of 8 bytes.
#[inline]
pub fn u64_of(raw: [u8; 8], big: bool) -> u64 {
    if big { u64::from_be_bytes(raw) } else { u64::from_le_bytes(raw) }
}

/// A number of up to 8 bytes; those after them are ignored.
#[inline]
pub fn number_of(bytes: &[u8], big: bool) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16_of([a, b], big)),
        [a, b, c, d] => u64::from(u32_of([a, b, c, d], big)),
        [a, b, c, d, e, f, g, h, ..] => u64_of([a, b, c, d, e, f, g, h], big),
        _ => {
            let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
            if big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
        }
    }
}

/// The bytes before the first zero.
#[inline]
pub fn until_zero(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// The unread rest of a record, a section or a file.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    rest: &'a [u8],
    pub big: bool,
}

impl<'a> Bytes<'a> {
    pub fn new(rest: &'a [u8], big: bool) -> Bytes<'a> {
        Bytes { rest, big }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn len(&self) -> usize {
        self.rest.len()
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(head)
    }

    /// The next bytes as a reader of their own.
    pub fn part(&mut self, count: usize) -> Option<Bytes<'a>> {
        Some(Bytes::new(self.take(count)?, self.big))
    }

    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(drop)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(u16_of(self.array()?, self.big))
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32_of(self.array()?, self.big))
    }

    pub fn u64(&mut self) -> Option<u64> {
        Some(u64_of(self.array()?, self.big))
    }

    pub fn i64(&mut self) -> Option<i64> {
        Some(self.u64()?.cast_signed())
    }

    /// A signed number of 4 bytes, such as the id of a process, which is -1 for the kernel's own.
    pub fn id(&mut self) -> Option<i64> {
        Some(i64::from(self.u32()?.cast_signed()))
    }

    /// A text of a fixed width, up to its first zero.
    pub fn text(&mut self, width: usize) -> Option<&'a [u8]> {
        Some(until_zero(self.take(width)?))
    }

    /// A text up to a zero, which is consumed, too.
    pub fn zero_text(&mut self) -> Option<&'a [u8]> {
        let text = until_zero(self.rest);
        self.skip(text.len() + 1)?;
        Some(text)
    }

    /// A text with its padded length before it.
    pub fn counted_text(&mut self) -> Option<&'a [u8]> {
        let width = self.u32()? as usize;
        self.text(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_to_eight_bytes_in_either_order() {
        let bytes = [0x81, 2, 3, 4, 5, 6, 7, 8, 9];
        for length in 0..=9 {
            let each = || bytes[..length.min(8)].iter().enumerate();
            let little = each().fold(0, |sum, (at, byte)| sum | u64::from(*byte) << (8 * at));
            let big = each().fold(0, |sum, (_, byte)| sum << 8 | u64::from(*byte));
            assert_eq!(
                (number_of(&bytes[..length], false), number_of(&bytes[..length], true)),
                (little, big),
                "{length}"
            );
        }
    }

    #[test]
    fn what_is_beyond_the_end_is_none_and_consumes_nothing() {
        let mut at = Bytes::new(b"\0\x01ab\0c", true);
        assert_eq!(
            (at.u16(), at.zero_text(), at.u16(), at.zero_text(), at.u8()),
            (Some(1), Some(&b"ab"[..]), None, None, Some(b'c'))
        );
        assert_eq!((at.u8(), at.len()), (None, 0));
    }
}
