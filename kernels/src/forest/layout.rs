//! The layout of the nodes of an in-order forest, which depends only on their numbers.
//!
//! Leaf `i` is node `2i`. The aggregate of an aligned block of `2^l` leaves from `i` on is node `2i + 2^l - 1`, a
//! number that ends in `l` ones: it is between the nodes of its two halves. Appending a leaf adds two nodes, so
//! existing nodes never move, and the nodes of neighbours are neighbours. After Tristan Hume's implicit in-order
//! forest.

/// `2^level` leaves from a multiple of that on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub first: usize,
    pub level: u32,
}

impl Block {
    /// The largest block that begins with a leaf and ends at or before a later one.
    #[inline]
    pub fn largest(first: usize, end: usize) -> Block {
        let fitting = (end - first).ilog2();
        let aligned = first.trailing_zeros();
        Block { first, level: fitting.min(aligned) }
    }

    /// The leaf after its last one.
    #[inline]
    pub fn end(self) -> usize {
        self.first + (1 << self.level)
    }

    /// The number of its node.
    #[inline]
    pub fn node(self) -> usize {
        2 * self.first + (1 << self.level) - 1
    }

    /// Its two halves; it has more than one leaf.
    #[inline]
    pub fn halves(self) -> (Block, Block) {
        let level = self.level - 1;
        let left = Block { first: self.first, level };
        let right = Block { first: left.end(), level };
        (left, right)
    }

    /// The blocks of more than one leaf that contain a leaf and have a node in a forest of `leaves` leaves, smallest
    /// first.
    pub fn around(leaf: usize, leaves: usize) -> impl Iterator<Item = Block> {
        let levels = 1..=leaves.max(1).ilog2() + 1;
        levels
            .map(move |level| Block { first: leaf >> level << level, level })
            .filter(move |block| block.node() < 2 * leaves)
    }
}
