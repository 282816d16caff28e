//! An in-order forest: aggregates over any range of an array of values in logarithmic time, with appends at its end.

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
    /// A forest of existing nodes.
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

    /// Return the first leaf for which a test holds on the aggregate of the leaves from `first` up to and including it.
    ///
    /// The test must be monotonic: once it holds it must continue to hold, such as that a maximum is large enough. A
    /// search within a block that does not satisfy it is never started, so this takes as many steps as a range.
    pub fn search(&self, mut first: usize, end: usize, test: impl Fn(&[u64]) -> bool) -> Option<usize> {
        debug_assert!(end <= self.leaves);
        let mut before = vec![0; self.monoid.width()];
        self.monoid.identity(&mut before);
        let mut with = before.clone();
        // Append a block to the aggregate before it, unless the test holds then.
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

/// Append the leaves of a range to a value, by existing nodes.
#[inline]
fn gather(monoid: &impl Monoid, nodes: &impl Nodes, (first, end): (usize, usize), value: &mut [u64]) {
    let width = monoid.width();
    nodes_of(first, end, |node| {
        monoid.append(value, nodes.words(node, width));
    });
}

/// Pass the numbers of the nodes that cover a range of leaves to a function, from left to right.
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
    // The next node holds its left half until its right one exists.
    nodes.copy_within(closed * width..(closed + 1) * width, (at + 1) * width);
}

impl<M: Monoid> Forest<M, Growing> {
    pub fn new(monoid: M) -> Forest<M, Growing> {
        let nodes = Growing::new(monoid.width());
        Forest::of(monoid, nodes, 0)
    }

    /// An empty forest for about a number of leaves.
    pub fn sized(monoid: M, leaves: usize) -> Forest<M, Growing> {
        let nodes = Growing::sized(monoid.width(), leaves);
        Forest::of(monoid, nodes, 0)
    }

    /// Append leaves, given as consecutive words: on all cores if they fill many blocks.
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

    /// Close the inner nodes that cover more than one block of nodes and end with one, before a number of leaves.
    fn close(&mut self, leaves: usize) {
        let within = self.nodes.leaves_of_block().ilog2();
        let width = self.monoid.width();
        let open = 2 * leaves - 1;
        let levels = open.trailing_ones() - 1;
        // The aggregate of the last block's nodes was copied to the node after them.
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

#[cfg(test)]
mod tests {
    use super::super::bulk;
    use super::super::monoid::{Chosen, Longest};
    use super::*;

    /// The last existing value: it shows whether parts are combined from left to right.
    fn last() -> Chosen<fn(u64, u64) -> bool> {
        Chosen(|_, _| true)
    }

    /// Every third leaf has no value.
    fn leaves(count: usize) -> Vec<u64> {
        (0..count as u64).flat_map(|at| [u64::from(at % 3 > 0), if at % 3 > 0 { at } else { 0 }]).collect()
    }

    fn folded<M: Monoid>(monoid: &M, leaves: &[u64], first: usize, end: usize) -> Vec<u64> {
        let width = monoid.width();
        let mut value = vec![0; width];
        monoid.identity(&mut value);
        leaves[first * width..end * width].chunks_exact(width).for_each(|leaf| monoid.append(&mut value, leaf));
        value
    }

    fn gathered<M: Monoid, N: Nodes>(forest: &Forest<M, N>, first: usize, end: usize) -> Vec<u64> {
        let mut value = vec![0; forest.monoid.width()];
        forest.monoid.identity(&mut value);
        forest.gather(first, end, &mut value);
        value
    }

    #[test]
    fn every_range_is_what_its_leaves_make() {
        for count in [1, 2, 3, 8, 31, 65] {
            let all = leaves(count);
            for step in [1, 3, count] {
                let mut forest = Forest::sized(last(), 4);
                all.chunks(2 * step).for_each(|part| forest.extend(part));
                assert_eq!(forest.leaves(), count);
                for first in 0..count {
                    for end in first..=count {
                        assert_eq!(gathered(&forest, first, end), folded(&forest.monoid, &all, first, end));
                    }
                }
            }
        }
    }

    #[test]
    fn a_leaf_that_is_replaced_changes_all_that_it_is_in() {
        let mut all = leaves(45);
        let mut forest = Forest::sized(last(), 4);
        forest.extend(&all);
        for leaf in [0, 7, 31, 32, 44] {
            all[2 * leaf..2 * leaf + 2].copy_from_slice(&[1, 1000 + leaf as u64]);
            forest.update(leaf, &all[2 * leaf..2 * leaf + 2]);
            for first in 0..45 {
                assert_eq!(gathered(&forest, first, 45), folded(&forest.monoid, &all, first, 45));
                assert_eq!(gathered(&forest, 0, first), folded(&forest.monoid, &all, 0, first));
            }
        }
    }

    #[test]
    fn a_search_finds_the_first_leaf_with_which_a_test_holds() {
        let all: Vec<u64> = (0..70_u64).flat_map(|at| [at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56, at]).collect();
        let mut forest = Forest::sized(Longest, 4);
        forest.extend(&all);
        for first in 0..70 {
            for bound in [0, 100, 200, 250, 256] {
                let wanted = (first..70).find(|leaf| all[2 * leaf] >= bound);
                assert_eq!(forest.search(first, 70, |value| value[0] >= bound), wanted, "{first} {bound}");
            }
        }
    }

    #[test]
    fn nodes_that_are_made_at_once_are_those_that_grow() {
        let count = 3 * (1 << 13) + 5;
        let all = leaves(count);
        let mut growing = Forest::new(last());
        growing.extend(&all);
        let mut made: Vec<u64> = Vec::new();
        let leaf = |at: usize, value: &mut [u64]| value.copy_from_slice(&all[2 * at..2 * at + 2]);
        bulk::build(&last(), count, 0, &mut made, leaf).expect("memory takes them");
        for first in [0, 1, 4095, 8191, 8192, 8193, 16_384, count - 1] {
            let mut value = vec![0; 2];
            nodes_of(first, count, |node| last().append(&mut value, &made[2 * node..2 * node + 2]));
            assert_eq!(value, gathered(&growing, first, count), "{first}");
        }
    }
}
