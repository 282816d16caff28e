//! Extend partial timestamps to full cycle counts of a clock, and convert these into ns.

/// The conversion from cycles to ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    frequency: u64,
    offset_s: i64,
    offset: i64,
}

impl Scale {
    pub fn new((frequency, offset_s, offset): (u64, i64, i64)) -> Scale {
        Scale { frequency: frequency.max(1), offset_s, offset }
    }

    /// The offset of times of the clock, in ns.
    pub fn offset_ns(&self) -> i128 {
        i128::from(self.offset_s) * 1_000_000_000 + self.to_ns(i128::from(self.offset))
    }

    fn to_ns(self, cycles: i128) -> i128 {
        (cycles * 1_000_000_000).div_euclid(i128::from(self.frequency))
    }

    /// The time in ns; None if it is out of range.
    #[inline]
    pub fn ns(&self, cycles: u64) -> Option<i64> {
        if self.frequency == 1_000_000_000
            && self.offset_s == 0
            && let Ok(cycles) = i64::try_from(cycles)
        {
            return cycles.checked_add(self.offset);
        }
        let all = self.to_ns(i128::from(cycles) + i128::from(self.offset));
        i64::try_from(i128::from(self.offset_s) * 1_000_000_000 + all).ok()
    }
}

/// The current number of cycles of a clock; times of fewer than 64 bits contain only the lowest bits.
#[derive(Clone, Copy, Default)]
pub struct Cycles(pub u64);

impl Cycles {
    /// Advance to the next time with these low bits.
    #[inline]
    pub fn update(&mut self, value: u64, size: u32) {
        if size >= 64 {
            self.0 = value;
            return;
        }
        let mask = (1u64 << size) - 1;
        let low = value & mask;
        let mut next = self.0 & !mask | low;
        if low < self.0 & mask {
            next = next.wrapping_add(1 << size);
        }
        self.0 = next;
    }
}
