//! Parse 16 bytes into a record.

/// Bytes of a record.
pub const BYTES: usize = 16;

const MAGIC: u64 = 5;

pub const ENTRY: u8 = 0;
pub const EXIT: u8 = 1;
pub const LOST: u8 = 2;
pub const EVENT: u8 = 3;

/// Bytes of an event's record and its data, which have this length.
pub fn event_bytes(length: usize) -> usize {
    BYTES + (length + 2).next_multiple_of(8)
}

/// A record of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Nanoseconds; 0 for lost records.
    pub time: i64,
    pub kind: u8,
    /// Whether data follow.
    pub more: bool,
    pub depth: u16,
    /// The address of the function; the number of an event; the number of lost records.
    pub address: u64,
}

impl Record {
    /// None if these bytes are not a record.
    #[inline]
    pub fn parse(bytes: &[u8; BYTES], big: bool) -> Option<Record> {
        let whole = if big { u128::from_be_bytes(*bytes).rotate_right(64) } else { u128::from_le_bytes(*bytes) };
        let (time, word) = (whole as u64, (whole >> 64) as u64);
        if word >> 3 & 7 != MAGIC {
            return None;
        }
        Some(Record {
            time: i64::try_from(time).ok()?,
            kind: (word & 3) as u8,
            more: word & 4 != 0,
            depth: (word >> 6 & 0x3ff) as u16,
            address: word >> 16,
        })
    }
}
