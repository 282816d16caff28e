//! A lane: rows in order of time of which none overlap, with a forest over blocks of them.

use rayon::prelude::*;

use super::times::Times;
use crate::forest::{Forest, Growing, Monoid};

/// Blocks that are summarized before they are appended to the forest.
const AT_ONCE: usize = 1 << 16;

/// What the rows of a lane are worth, which is put together by a monoid.
pub trait Worth: Monoid {
    /// Append the value of a row.
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]);
}

pub struct Lane<W> {
    pub times: Times,
    forest: Forest<W, Growing>,
}

impl<W: Worth> Lane<W> {
    /// Index rows.
    pub fn new(times: Times, worth: W) -> Lane<W> {
        let blocks = times.blocks();
        let mut lane = Lane {
            times,
            forest: Forest::sized(worth, blocks),
        };
        let width = lane.forest.monoid.width();
        for first in (0..blocks).step_by(AT_ONCE) {
            let count = AT_ONCE.min(blocks - first);
            let mut leaves = vec![0; count * width];
            leaves
                .par_chunks_exact_mut(width)
                .enumerate()
                .with_min_len(64)
                .for_each(|(number, leaf)| {
                    let (row, end) = lane.times.rows(first + number);
                    lane.look(row, end, leaf);
                });
            lane.forest.extend(&leaves);
        }
        lane
    }

    pub fn worth(&self) -> &W {
        &self.forest.monoid
    }

    /// Bytes that the index takes beside the columns.
    pub fn bytes(&self) -> usize {
        let node = self.forest.monoid.width() * size_of::<u64>();
        self.times.bytes() + 2 * self.forest.leaves() * node
    }

    /// Append rows one by one.
    #[inline]
    fn look(&self, first: usize, end: usize, value: &mut [u64]) {
        for row in first..end {
            self.worth().append_row(&self.times, row, value);
        }
    }

    /// Append rows: whole blocks by the forest, what is left at both ends one by one.
    #[inline]
    pub fn gather(&self, first: usize, end: usize, value: &mut [u64]) {
        let (head, tail) = self.times.within(first, end);
        if head >= tail {
            return self.look(first, end, value);
        }
        self.look(first, self.times.rows(head).0, value);
        self.forest.gather(head, tail, value);
        self.look(self.times.rows(tail - 1).1, end, value);
    }
}
