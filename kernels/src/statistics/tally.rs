//! How often each number occurs, cheaply where few different ones follow each other.

use rustc_hash::FxHashMap;

const SLOTS: usize = 1024;

/// Counts of 64-bit patterns; the latest few stand in front of the table that has them all.
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

    /// Put all counts into the table and return it.
    pub fn settle(&mut self) -> &FxHashMap<u64, u64> {
        for (key, count) in std::mem::take(&mut self.recent) {
            if count > 0 {
                *self.table.entry(key).or_default() += count;
            }
        }
        &self.table
    }
}
