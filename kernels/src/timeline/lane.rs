//! A lane: rows in order of time without overlaps, with forests over blocks of them.

use std::io;
use std::ops::Range;

use arrow_buffer::{Buffer, ScalarBuffer};
use rayon::prelude::*;

use super::fetch::fetch;
use super::form::{Form, GROUP};
use super::times::{Ordered, Times};
use crate::forest::{Monoid, Sink, build, nodes_of, push_within};

/// The values of the rows of a lane, which a monoid combines.
pub trait Worth: Monoid {
    /// Append the value of a row.
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]);

    /// Rows of a block, which is a leaf of the forest.
    fn block(&self) -> usize;
}

pub struct Lane<W> {
    pub order: Ordered,
    worth: W,
    form: Form,
    index: ScalarBuffer<u64>,
}

/// Words of groups that are made before they are passed on.
const AT_ONCE: usize = 1 << 20;

/// The layout of the index of a number of rows.
pub fn form(worth: &impl Worth, rows: usize) -> Form {
    Form { blocks: rows.div_ceil(worth.block()), width: worth.width() }
}

/// Write the index of rows at a word offset.
pub fn write(times: &Times, worth: &impl Worth, at: usize, sink: &mut impl Sink) -> io::Result<()> {
    let form = form(worth, times.len());
    let (groups, width) = (form.groups(), form.width);
    let start = |block| times.begin(times.rows(block).0).cast_unsigned();
    let mut values = Vec::with_capacity(form.whole() * width);
    let many = (AT_ONCE / form.each()).max(1);
    let mut made = vec![0; form.each() * many.min(groups)];
    for first in (0..groups).step_by(many) {
        let end = groups.min(first + many);
        let place = form.some(first..end);
        let made = &mut made[..place.len()];
        made.par_chunks_mut(form.each()).enumerate().for_each_init(
            || vec![0; width],
            |leaf, (number, words)| {
                let blocks = GROUP.min(words.len() / form.of_block());
                let (starts, nodes) = words.split_at_mut(blocks);
                for (within, begin) in starts.iter_mut().enumerate() {
                    let block = (first + number) * GROUP + within;
                    let (row, end) = times.rows(block);
                    *begin = start(block);
                    worth.identity(leaf);
                    look(times, worth, row, end, leaf);
                    push_within(worth, nodes, within, leaf);
                }
            },
        );
        sink.put(at + place.start, made)?;
        for group in made.chunks_exact(form.each()) {
            // The node of all its blocks.
            let node = GROUP + (GROUP - 1) * width;
            values.extend_from_slice(&group[node..node + width]);
        }
    }
    let firsts: Vec<u64> = (0..groups).map(|group| start(group * GROUP)).collect();
    sink.put(at + form.firsts().start, &firsts)?;
    build(worth, form.whole(), at + form.forest().start, sink, |group, leaf| {
        leaf.copy_from_slice(&values[group * width..(group + 1) * width]);
    })
}

/// Aggregate rows one by one.
#[inline]
fn look(times: &Times, worth: &impl Worth, first: usize, end: usize, value: &mut [u64]) {
    for row in first..end {
        worth.append_row(times, row, value);
    }
}

impl<W: Worth> Lane<W> {
    /// A lane with an index, in whole words.
    pub fn new(times: Times, worth: W, index: &Buffer) -> Lane<W> {
        let form = form(&worth, times.len());
        Lane {
            index: ScalarBuffer::new(index.clone(), 0, form.words()),
            order: Ordered::new(times, form, index),
            form,
            worth,
        }
    }

    pub fn worth(&self) -> &W {
        &self.worth
    }

    pub fn times(&self) -> &Times {
        &self.order.times
    }

    /// Aggregate rows: whole blocks by the forests, the rest at both ends one by one.
    #[inline]
    pub fn gather(&self, first: usize, end: usize, value: &mut [u64]) {
        let (times, worth) = (self.times(), self.worth());
        let (head, tail) = times.within(first, end);
        if head >= tail {
            return look(times, worth, first, end, value);
        }
        look(times, worth, first, times.rows(head).0, value);
        self.nodes(head..tail, |node| worth.append(value, node));
        look(times, worth, times.rows(tail - 1).1, end, value);
    }

    /// Prefetch the memory for the aggregate of rows, except for single rows.
    #[inline]
    pub fn fetch(&self, first: usize, end: usize) {
        let (head, tail) = self.times().within(first, end);
        if head < tail {
            self.nodes(head..tail, fetch);
        }
    }

    /// Pass the nodes of blocks to a function, from left to right: those of whole groups where possible.
    #[inline]
    fn nodes(&self, blocks: Range<usize>, mut each: impl FnMut(&[u64])) {
        let (head, tail) = (blocks.start % GROUP, blocks.end % GROUP);
        let (from, to) = (blocks.start.div_ceil(GROUP), blocks.end / GROUP);
        let form = self.form;
        if from > to {
            return self.some(form.nodes(to), head..tail, &mut each);
        }
        if head > 0 {
            self.some(form.nodes(from - 1), head..GROUP, &mut each);
        }
        self.some(form.forest(), from..to, &mut each);
        if tail > 0 {
            self.some(form.nodes(to), 0..tail, &mut each);
        }
    }

    /// Pass nodes of the forest at a place to a function.
    #[inline]
    fn some(&self, place: Range<usize>, leaves: Range<usize>, each: &mut impl FnMut(&[u64])) {
        let (words, width) = (&self.index[place], self.worth.width());
        nodes_of(leaves.start, leaves.end, |node| {
            each(&words[node * width..(node + 1) * width]);
        });
    }
}
