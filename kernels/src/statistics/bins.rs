//! The bins of sketches: every 64-bit number falls into one with a midpoint at most 1 % away from it.
//!
//! Bin 0 holds 0. A bin that begins with `a` ends with the largest `b <= 1.0199 a` below the next power of two, so
//! small numbers have bins of their own, no bin crosses a power of two, and 2ab / (a + b) is within 0.986 % of both its
//! ends.

use std::sync::LazyLock;

/// Bits after the leading one that select a number's bin, or the one before it: 2^-7 is less than a bin's width.
const LOOKED_AT: u32 = 7;

pub struct Bins {
    /// The last number of each bin.
    last: Vec<u64>,
    /// The bin of the smallest number with this leading bit and these following bits.
    first: Vec<u16>,
}

pub static BINS: LazyLock<Bins> = LazyLock::new(Bins::new);

impl Bins {
    fn new() -> Bins {
        let mut last = vec![0u64];
        let mut begin = 1u64;
        loop {
            let octave = u64::MAX >> begin.leading_zeros();
            let widest = u128::from(begin) * 10_199 / 10_000;
            let end = u64::try_from(widest).unwrap_or(u64::MAX).min(octave);
            last.push(end);
            match end.checked_add(1) {
                Some(next) => begin = next,
                None => break,
            }
        }
        let slots = 64usize << LOOKED_AT;
        let mut bin = 0;
        let first = (0..slots)
            .map(|slot| {
                let octave = (slot >> LOOKED_AT) as u32;
                let behind = (slot & ((1 << LOOKED_AT) - 1)) as u64;
                let top = (1u64 << 63) | (behind << (63 - LOOKED_AT));
                let smallest = top >> (63 - octave);
                while last[bin] < smallest {
                    bin += 1;
                }
                bin as u16
            })
            .collect();
        Bins { last, first }
    }

    pub fn count(&self) -> usize {
        self.last.len()
    }

    /// The bin number of a value.
    #[inline]
    pub fn of(&self, value: u64) -> usize {
        if value == 0 {
            return 0;
        }
        let zeros = value.leading_zeros();
        let behind = ((value << zeros) << 1) >> (64 - LOOKED_AT);
        let slot = ((63 - zeros as usize) << LOOKED_AT) | behind as usize;
        let bin = usize::from(self.first[slot]);
        bin + usize::from(self.last[bin] < value)
    }

    /// The representative of a bin's values.
    pub fn middle(&self, bin: usize) -> f64 {
        let (begin, end) = self.ends(bin);
        if begin == end {
            return end as f64;
        }
        2.0 / (1.0 / begin as f64 + 1.0 / end as f64)
    }

    fn ends(&self, bin: usize) -> (u64, u64) {
        let end = self.last[bin];
        match bin {
            0 => (0, 0),
            _ => (self.last[bin - 1] + 1, end),
        }
    }

    /// The number of bits of the values of a bin: 0 for 0, k for 2^(k-1) up to 2^k - 1.
    pub fn bits(&self, bin: usize) -> usize {
        64 - self.last[bin].leading_zeros() as usize
    }
}
