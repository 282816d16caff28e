//! Counts of numbers, cheap where few different ones follow each other.

use arrow_array::{ArrowPrimitiveType, PrimitiveArray};
use rustc_hash::FxHashMap;

use super::values::each;

const SLOTS: usize = 1024;

/// An integer.
pub trait Bits: Copy + PartialOrd + Into<i128> {
    /// As a pattern of 64 bits.
    fn bits(self) -> u64;
}

impl Bits for i32 {
    #[inline]
    fn bits(self) -> u64 {
        i64::from(self).cast_unsigned()
    }
}

impl Bits for i64 {
    #[inline]
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
}

impl Bits for u64 {
    #[inline]
    fn bits(self) -> u64 {
        self
    }
}

/// Counts of 64-bit patterns; a small cache of the latest precedes the table of all.
#[derive(Default)]
pub struct Tally {
    recent: Vec<(u64, u64)>,
    table: FxHashMap<u64, u64>,
}

impl Tally {
    #[inline]
    pub fn add(&mut self, key: u64) {
        if self.recent.is_empty() {
            self.recent.resize(SLOTS, (0, 0));
        }
        let slot = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        let place = &mut self.recent[slot as usize];
        if place.0 == key {
            place.1 += 1;
        } else {
            if place.1 > 0 {
                *self.table.entry(place.0).or_default() += place.1;
            }
            *place = (key, 1);
        }
    }

    /// Add all values of a column, with their range; if there are none, its minimum is above its maximum.
    pub fn count<T>(&mut self, values: &PrimitiveArray<T>, (min, max): (T::Native, T::Native))
    where
        T: ArrowPrimitiveType<Native: Bits>,
    {
        let least = min.bits();
        let range = max.bits().wrapping_sub(least);
        if min > max || range >= SLOTS as u64 {
            return each(values, |value| self.add(value.bits()));
        }
        let mut counts = [0; SLOTS];
        each(values, |value| {
            counts[value.bits().wrapping_sub(least) as usize % SLOTS] += 1;
        });
        for (place, count) in counts.into_iter().enumerate() {
            if count > 0 {
                *self.table.entry(least.wrapping_add(place as u64)).or_default() += count;
            }
        }
    }

    /// Move all counts into the table and return it.
    pub fn settle(&mut self) -> &FxHashMap<u64, u64> {
        for (key, count) in std::mem::take(&mut self.recent) {
            if count > 0 {
                *self.table.entry(key).or_default() += count;
            }
        }
        &self.table
    }
}
