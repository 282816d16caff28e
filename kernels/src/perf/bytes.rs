//! Bytes of a record -> its numbers, in the trace's byte order; every read checks bounds.

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

    pub fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub fn u16(&mut self) -> Option<u16> {
        let raw = self.take(2)?.try_into().ok()?;
        Some(match self.big {
            true => u16::from_be_bytes(raw),
            false => u16::from_le_bytes(raw),
        })
    }

    pub fn u32(&mut self) -> Option<u32> {
        let raw = self.take(4)?.try_into().ok()?;
        Some(match self.big {
            true => u32::from_be_bytes(raw),
            false => u32::from_le_bytes(raw),
        })
    }

    pub fn u64(&mut self) -> Option<u64> {
        let raw = self.take(8)?.try_into().ok()?;
        Some(match self.big {
            true => u64::from_be_bytes(raw),
            false => u64::from_le_bytes(raw),
        })
    }

    /// A process or thread id, -1 for the kernel's own.
    pub fn id(&mut self) -> Option<i64> {
        Some(i64::from(self.u32()?.cast_signed()))
    }

    /// A text of a fixed width, up to its first zero.
    pub fn text(&mut self, width: usize) -> Option<&'a [u8]> {
        Some(until_zero(self.take(width)?))
    }

    /// A text with its padded length before it.
    pub fn counted_text(&mut self) -> Option<&'a [u8]> {
        let width = self.u32()? as usize;
        self.text(width)
    }
}

/// The bytes before the first zero.
pub fn until_zero(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}
