//! Times of what comes next in many files -> the file whose time has come.

use std::hint::select_unpredictable;

/// What has ended; a file may also say that its time is this one.
pub const NEVER: i64 = i64::MAX;

/// A tree in which the earlier of two rises; of equal times the one of the lower number.
#[derive(Default)]
pub struct Winners {
    /// The root is the second one, the children of `n` are `2n` and `2n + 1`.
    nodes: Vec<(i64, usize)>,
}

impl Winners {
    pub fn new(times: &[i64]) -> Winners {
        let leaves = times.len().next_power_of_two().max(1);
        let mut nodes = vec![(NEVER, usize::MAX); leaves];
        let number = |at: usize| (times.get(at).copied().unwrap_or(NEVER), at);
        nodes.extend((0..leaves).map(number));
        let mut winners = Winners { nodes };
        for (number, time) in times.iter().enumerate() {
            winners.set(number, *time);
        }
        winners
    }

    /// The earliest time and its number.
    #[inline]
    pub fn first(&self) -> (i64, usize) {
        self.nodes.get(1).copied().unwrap_or((NEVER, usize::MAX))
    }

    /// Change the time of a number.
    #[inline]
    pub fn set(&mut self, number: usize, time: i64) {
        let mut best = (time, number);
        let mut at = self.nodes.len() / 2 + number;
        while let Some(place) = self.nodes.get_mut(at) {
            *place = best;
            let Some(other) = self.nodes.get(at ^ 1).copied().filter(|_| at > 1) else {
                return;
            };
            let left = at & 1 == 0;
            let wins = best.0 < other.0 || left & (best.0 == other.0);
            best = (
                select_unpredictable(wins, best.0, other.0),
                select_unpredictable(wins, best.1, other.1),
            );
            at /= 2;
        }
    }
}
