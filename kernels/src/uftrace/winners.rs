//! Times of what comes next in many files -> the file whose time has come.

use std::hint::select_unpredictable;

/// What has ended; a file may also say that its time is this one.
pub const NEVER: i64 = i64::MAX;

/// A tree in which the earlier of two rises; of equal times the one of the lower number.
#[derive(Default)]
pub struct Winners {
    /// Times and numbers; the root is the second one, the children of `n` are `2n` and `2n + 1`.
    nodes: Vec<u128>,
}

/// As numbers that are in the same order.
#[inline]
fn key(time: i64, number: usize) -> u128 {
    let time = time.cast_unsigned() ^ 1 << 63;
    u128::from(time) << 64 | number as u128
}

impl Winners {
    pub fn new(times: &[i64]) -> Winners {
        let leaves = times.len().next_power_of_two();
        let mut winners = Winners {
            nodes: vec![u128::MAX; 2 * leaves],
        };
        for (number, time) in times.iter().enumerate() {
            winners.set(number, *time);
        }
        winners
    }

    /// The earliest time and its number.
    #[inline]
    pub fn first(&self) -> (i64, usize) {
        let first = self.nodes.get(1).copied().unwrap_or(u128::MAX);
        let time = (first >> 64) as u64 ^ 1 << 63;
        (time.cast_signed(), first as u64 as usize)
    }

    /// Change the time of a number.
    #[inline]
    pub fn set(&mut self, number: usize, time: i64) {
        let mut best = key(time, number);
        let mut at = self.nodes.len() / 2 + number;
        while let Some(place) = self.nodes.get_mut(at) {
            *place = best;
            if at <= 1 {
                return;
            }
            let other = self.nodes[at ^ 1];
            // Which one wins cannot be foreseen.
            best = select_unpredictable(best < other, best, other);
            at /= 2;
        }
    }
}
