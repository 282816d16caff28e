//! A lane: rows in order of time of which none overlap, with forests over blocks of them.
//!
//! What is made of a lane beside its columns are words: when the first row of each block begins, the nodes of a forest over
//! blocks, and those of a second one over every so many blocks. The second one is small, so that it stays in the processor's
//! caches; without it each node of a long range would be on a page of its own.

use std::io;

use arrow_buffer::{Buffer, ScalarBuffer};

use super::times::{Ordered, Times};
use crate::forest::{Mapped, Monoid, Sink, build, gather};

/// What the rows of a lane are worth, which is put together by a monoid.
pub trait Worth: Monoid {
    /// Append the value of a row.
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]);

    /// Rows of a block, which is a leaf of the forest.
    fn block(&self) -> usize;
}

pub struct Lane<W> {
    pub order: Ordered,
    worth: W,
    /// Over blocks.
    nodes: Mapped,
    /// Over groups of blocks.
    groups: Mapped,
}

/// Blocks of a group.
const GROUP: usize = 64;
/// Starts that are put before a forest at once.
const AT_ONCE: usize = 1 << 16;

/// How many words the index of so many rows has.
pub fn words(worth: &impl Worth, rows: usize) -> usize {
    let blocks = rows.div_ceil(worth.block());
    blocks + 2 * (blocks + blocks / GROUP) * worth.width()
}

/// Put the index of rows behind so many words.
pub fn write(times: &Times, worth: &impl Worth, at: usize, sink: &mut impl Sink) -> io::Result<()> {
    let (blocks, width) = (times.blocks(), worth.width());
    for first in (0..blocks).step_by(AT_ONCE) {
        let some = first..blocks.min(first + AT_ONCE);
        let start = |block| times.begin(times.rows(block).0).cast_unsigned();
        sink.put(at + first, &some.map(start).collect::<Vec<u64>>())?;
    }
    let at = at + blocks;
    let mut groups = Groups {
        sink,
        at,
        width,
        values: Vec::with_capacity(blocks / GROUP * width),
    };
    build(worth, blocks, at, &mut groups, |block, leaf| {
        let (row, end) = times.rows(block);
        look(times, worth, row, end, leaf);
    })?;
    let values = groups.values;
    let at = at + 2 * blocks * width;
    build(worth, blocks / GROUP, at, sink, |group, leaf| {
        leaf.copy_from_slice(&values[group * width..(group + 1) * width]);
    })
}

/// Hands on the nodes of a forest, and notes the values of whole groups, which come in order.
struct Groups<'a, S> {
    sink: &'a mut S,
    /// Words before the forest.
    at: usize,
    width: usize,
    values: Vec<u64>,
}

impl<S: Sink> Sink for Groups<'_, S> {
    fn put(&mut self, at: usize, words: &[u64]) -> io::Result<()> {
        let (first, count) = ((at - self.at) / self.width, words.len() / self.width);
        // The node of a whole group, if it is among these.
        let mut node = 2 * GROUP * (self.values.len() / self.width) + GROUP - 1;
        while (first..first + count).contains(&node) && node + GROUP < first + count {
            let from = (node - first) * self.width;
            self.values
                .extend_from_slice(&words[from..from + self.width]);
            node += 2 * GROUP;
        }
        self.sink.put(at, words)
    }
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
        let of = |words: usize| words * size_of::<u64>();
        let (nodes, groups) = (blocks, blocks + 2 * blocks * worth.width());
        Lane {
            nodes: Mapped::new(index.slice_with_length(of(nodes), of(groups - nodes))),
            groups: Mapped::new(index.slice(of(groups))),
            order: Ordered::new(times, ScalarBuffer::new(index.clone(), 0, blocks)),
            worth,
        }
    }

    pub fn worth(&self) -> &W {
        &self.worth
    }

    pub fn times(&self) -> &Times {
        &self.order.times
    }

    /// Append rows: whole blocks by the forests, what is left at both ends one by one.
    #[inline]
    pub fn gather(&self, first: usize, end: usize, value: &mut [u64]) {
        let (times, worth) = (self.times(), self.worth());
        let (head, tail) = times.within(first, end);
        if head >= tail {
            return look(times, worth, first, end, value);
        }
        look(times, worth, first, times.rows(head).0, value);
        let (from, to) = (head.div_ceil(GROUP), tail / GROUP);
        if from < to {
            gather(worth, &self.nodes, (head, from * GROUP), value);
            gather(worth, &self.groups, (from, to), value);
            gather(worth, &self.nodes, (to * GROUP, tail), value);
        } else {
            gather(worth, &self.nodes, (head, tail), value);
        }
        look(times, worth, times.rows(tail - 1).1, end, value);
    }
}
