//! A lane: rows in order of time of which none overlap, with a forest over blocks of them.
//!
//! What is made of a lane beside its columns are words: when the first row of each block begins, then the nodes of the
//! forest.

use std::io;

use arrow_buffer::{Buffer, ScalarBuffer};

use super::times::{Ordered, Times};
use crate::forest::{Forest, Mapped, Monoid, Sink, build};

/// What the rows of a lane are worth, which is put together by a monoid.
pub trait Worth: Monoid {
    /// Append the value of a row.
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]);

    /// Rows of a block, which is a leaf of the forest.
    fn block(&self) -> usize;
}

pub struct Lane<W> {
    pub order: Ordered,
    forest: Forest<W, Mapped>,
}

/// How many words the index of so many rows has.
pub fn words(worth: &impl Worth, rows: usize) -> usize {
    rows.div_ceil(worth.block()) * (1 + 2 * worth.width())
}

/// Starts that are put before a forest at once.
const AT_ONCE: usize = 1 << 16;

/// Put the index of rows behind so many words.
pub fn write(times: &Times, worth: &impl Worth, at: usize, sink: &mut impl Sink) -> io::Result<()> {
    let blocks = times.blocks();
    for first in (0..blocks).step_by(AT_ONCE) {
        let some = first..blocks.min(first + AT_ONCE);
        let start = |block| times.begin(times.rows(block).0).cast_unsigned();
        sink.put(at + first, &some.map(start).collect::<Vec<u64>>())?;
    }
    build(worth, blocks, at + blocks, sink, |block, leaf| {
        let (row, end) = times.rows(block);
        look(times, worth, row, end, leaf);
    })
}

/// Append rows one by one.
#[inline]
fn look(times: &Times, worth: &impl Worth, first: usize, end: usize, value: &mut [u64]) {
    for row in first..end {
        worth.append_row(times, row, value);
    }
}

impl<W: Worth> Lane<W> {
    /// A lane whose index is there, in whole words.
    pub fn new(times: Times, worth: W, index: &Buffer) -> Lane<W> {
        let blocks = times.blocks();
        let middle = blocks * size_of::<u64>();
        let nodes = Mapped::new(index.slice(middle));
        let starts = ScalarBuffer::new(index.clone(), 0, blocks);
        Lane {
            order: Ordered::new(times, starts),
            forest: Forest::of(worth, nodes, blocks),
        }
    }

    pub fn worth(&self) -> &W {
        &self.forest.monoid
    }

    pub fn times(&self) -> &Times {
        &self.order.times
    }

    /// Append rows: whole blocks by the forest, what is left at both ends one by one.
    #[inline]
    pub fn gather(&self, first: usize, end: usize, value: &mut [u64]) {
        let (times, worth) = (self.times(), self.worth());
        let (head, tail) = times.within(first, end);
        if head >= tail {
            return look(times, worth, first, end, value);
        }
        look(times, worth, first, times.rows(head).0, value);
        self.forest.gather(head, tail, value);
        look(times, worth, times.rows(tail - 1).1, end, value);
    }
}
