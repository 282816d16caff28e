//! Number recurring strings in records, so that columns recognize them without reading the text.

/// Number of cached texts; a power of two.
const SLOTS: usize = 512;
/// Bytes of a thread's name in a record.
pub const NAME: usize = 16;

/// Assigns unique numbers to texts; an evicted text gets a new number.
pub struct Numbers {
    slots: Box<[Slot]>,
    next: usize,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    bytes: (u64, u64),
    /// 0 in a free slot.
    number: usize,
    length: usize,
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers { slots: vec![Slot::default(); SLOTS].into(), next: 0 }
    }
}

impl Numbers {
    /// A new number.
    pub fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// The number of a text that ends with a zero byte or at the end of the field, and its length.
    #[inline]
    pub fn of(&mut self, field: &[u8; NAME]) -> (usize, usize) {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let (Some(low), Some(high)) = (field.first_chunk(), field.last_chunk()) else {
            return (0, NAME);
        };
        let bytes = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        let mixed = bytes.0.wrapping_mul(FACTOR) ^ bytes.1;
        let place = (mixed.wrapping_mul(FACTOR) >> 32) as usize & (SLOTS - 1);
        let slot = self.slots[place];
        if slot.bytes == bytes && slot.number > 0 {
            return (slot.number, slot.length);
        }
        let number = self.fresh();
        let length = field.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        self.slots[place] = Slot { bytes, number, length };
        (number, length)
    }
}
