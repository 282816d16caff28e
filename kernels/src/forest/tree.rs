//! An in-order forest: any range of an array of values, aggregated in logarithmic time, and more values at its end.

use rayon::prelude::*;

use super::layout::Block;
use super::monoid::Monoid;
use super::nodes::{Growing, Nodes};

pub struct Forest<M, N> {
    pub monoid: M,
    pub nodes: N,
    leaves: usize,
}

impl<M: Monoid, N: Nodes> Forest<M, N> {
    /// A forest of so many leaves whose nodes are there.
    pub fn of(monoid: M, nodes: N, leaves: usize) -> Forest<M, N> {
        Forest { monoid, nodes, leaves }
    }

    pub fn leaves(&self) -> usize {
        self.leaves
    }

    #[inline]
    pub fn words(&self, node: usize) -> &[u64] {
        self.nodes.words(node, self.monoid.width())
    }

    /// Append the leaves from `first` up to `end` to a value, from left to right: at most 2 log2 n steps.
    #[inline]
    pub fn gather(&self, first: usize, end: usize, value: &mut [u64]) {
        debug_assert!(end <= self.leaves);
        gather(&self.monoid, &self.nodes, (first, end), value);
    }

    /// Return the first leaf from which on, to the left, a test holds of all that stands between `first` and it.
    ///
    /// Once it holds it must go on to hold: of a maximum that it is large enough, say. Another search within a block
    /// that does not satisfy it is never begun, so this takes as many steps as a range.
    pub fn search(&self, mut first: usize, end: usize, test: impl Fn(&[u64]) -> bool) -> Option<usize> {
        debug_assert!(end <= self.leaves);
        let mut before = vec![0; self.monoid.width()];
        self.monoid.identity(&mut before);
        let mut with = before.clone();
        // Append a block to what is before it, unless the test holds then.
        let mut passes = |block: Block| {
            with.copy_from_slice(&before);
            self.monoid.append(&mut with, self.words(block.node()));
            let found = test(&with);
            if !found {
                before.copy_from_slice(&with);
            }
            found
        };
        while first < end {
            let mut block = Block::largest(first, end);
            if passes(block) {
                while block.level > 0 {
                    let (left, right) = block.halves();
                    block = if passes(left) { left } else { right };
                }
                return Some(block.first);
            }
            first = block.end();
        }
        None
    }
}

/// Append the leaves from one up to another to a value, by nodes that are there.
#[inline]
fn gather(monoid: &impl Monoid, nodes: &impl Nodes, (first, end): (usize, usize), value: &mut [u64]) {
    let width = monoid.width();
    nodes_of(first, end, |node| {
        monoid.append(value, nodes.words(node, width));
    });
}

/// Hand out the numbers of the nodes that the leaves from one up to another come to, from left to right.
#[inline]
pub fn nodes_of(mut first: usize, end: usize, mut each: impl FnMut(usize)) {
    while first < end {
        let block = Block::largest(first, end);
        each(block.node());
        first = block.end();
    }
}

/// Append a leaf at the end of a block of nodes, and close the inner nodes within it that end there.
pub fn push_within<M: Monoid>(monoid: &M, nodes: &mut [u64], leaf: usize, value: &[u64]) {
    let width = monoid.width();
    let at = 2 * leaf;
    nodes[at * width..(at + 1) * width].copy_from_slice(value);
    let levels = (at + 1).trailing_ones() - 1;
    let mut closed = at;
    for level in 0..levels {
        let open = closed - (1 << level);
        let (left, right) = nodes.split_at_mut(closed * width);
        monoid.append(&mut left[open * width..(open + 1) * width], &right[..width]);
        closed = open;
    }
    // The node that comes next holds its left half until its right one is there.
    nodes.copy_within(closed * width..(closed + 1) * width, (at + 1) * width);
}

impl<M: Monoid> Forest<M, Growing> {
    pub fn new(monoid: M) -> Forest<M, Growing> {
        let nodes = Growing::new(monoid.width());
        Forest::of(monoid, nodes, 0)
    }

    /// An empty forest that is to have about so many leaves.
    pub fn sized(monoid: M, leaves: usize) -> Forest<M, Growing> {
        let nodes = Growing::sized(monoid.width(), leaves);
        Forest::of(monoid, nodes, 0)
    }

    /// Append leaves, whose words stand one after the other: on all cores where they fill many blocks.
    pub fn extend(&mut self, values: &[u64]) {
        let width = self.monoid.width();
        let each = self.nodes.leaves_of_block();
        let more = values.len() / width;
        self.nodes.reserve(self.leaves + more);
        let begin = self.leaves / each;
        let skipped = self.leaves % each;
        let (first, others) = values.split_at((each - skipped).min(more) * width);
        let monoid = &self.monoid;
        let fill = |nodes: &mut [u64], from: usize, values: &[u64]| {
            for (number, value) in values.chunks_exact(width).enumerate() {
                push_within(monoid, nodes, from + number, value);
            }
        };
        let (head, tail) = self.nodes.blocks[begin..].split_at_mut((more > 0).into());
        if let [block] = head {
            fill(block, skipped, first);
        }
        let parts = others.par_chunks(each * width);
        tail.par_iter_mut().zip(parts).for_each(|(block, part)| fill(block, 0, part));
        self.leaves += more;
        for full in begin..self.leaves / each {
            self.close((full + 1) * each);
        }
    }

    /// Close the inner nodes that reach over more than one block of nodes and end with one, before so many leaves.
    fn close(&mut self, leaves: usize) {
        let within = self.nodes.leaves_of_block().ilog2();
        let width = self.monoid.width();
        let open = 2 * leaves - 1;
        let levels = open.trailing_ones() - 1;
        // What the last block's nodes make together was copied to the node behind them.
        let mut value = self.words(open).to_vec();
        let mut closed = 2 * (leaves - (1 << within)) + (1 << within) - 1;
        for level in within..levels {
            let above = closed - (1 << level);
            let node = self.nodes.words_mut(above);
            self.monoid.append(node, &value);
            value.copy_from_slice(&node[..width]);
            closed = above;
        }
        self.nodes.words_mut(open).copy_from_slice(&value);
    }

    /// Replace a leaf.
    pub fn update(&mut self, leaf: usize, value: &[u64]) {
        self.nodes.words_mut(2 * leaf).copy_from_slice(value);
        for block in Block::around(leaf, self.leaves) {
            let (left, right) = block.halves();
            let mut value = self.words(left.node()).to_vec();
            if right.end() <= self.leaves {
                self.monoid.append(&mut value, self.words(right.node()));
            }
            self.nodes.words_mut(block.node()).copy_from_slice(&value);
        }
    }
}
