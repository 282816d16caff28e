//! The nodes of a forest: in growing blocks of memory, or in a mapped file.

use arrow_buffer::Buffer;

/// Nodes of a fixed number of words each, in order.
pub trait Nodes: Send + Sync {
    /// The words of a node; a constant width makes for shorter code.
    fn words(&self, node: usize, width: usize) -> &[u64];
}

/// Words of a block: enough to make allocations rare, and to keep the table of all blocks small.
const BLOCK_WORDS: usize = 1 << 17;

/// Growing nodes. Only the table of blocks is reallocated; the blocks stay in place.
pub struct Growing {
    width: usize,
    /// The binary logarithm of the number of nodes of a block.
    shift: u32,
    pub blocks: Vec<Box<[u64]>>,
}

impl Growing {
    pub fn new(width: usize) -> Growing {
        Growing::sized(width, usize::MAX / 4)
    }

    /// Nodes for about a number of leaves: if it is small, blocks are small.
    pub fn sized(width: usize, leaves: usize) -> Growing {
        let most = (BLOCK_WORDS / width.max(1)).max(2).ilog2();
        let shift = most.min(leaves.max(1).next_power_of_two().ilog2() + 1);
        Growing { width, shift, blocks: Vec::new() }
    }

    /// The number of leaves in a block, with as many inner nodes.
    pub fn leaves_of_block(&self) -> usize {
        1 << (self.shift - 1)
    }

    /// Add blocks until there is room for a number of leaves.
    pub fn reserve(&mut self, leaves: usize) {
        let words = self.width << self.shift;
        while self.blocks.len() * self.leaves_of_block() < leaves {
            self.blocks.push(vec![0; words].into_boxed_slice());
        }
    }

    pub fn words_mut(&mut self, node: usize) -> &mut [u64] {
        let block = &mut self.blocks[node >> self.shift];
        let within = node & ((1 << self.shift) - 1);
        &mut block[within * self.width..(within + 1) * self.width]
    }
}

impl Nodes for Growing {
    #[inline]
    fn words(&self, node: usize, width: usize) -> &[u64] {
        let block = &self.blocks[node >> self.shift];
        let within = node & ((1 << self.shift) - 1);
        &block[within * width..(within + 1) * width]
    }
}

/// Nodes in a file, one after the other.
pub struct Mapped(Buffer);

impl Mapped {
    /// Read nodes from whole words; unaligned ones are copied.
    pub fn new(words: Buffer) -> Mapped {
        let aligned = words.as_ptr().align_offset(align_of::<u64>()) == 0;
        Mapped(if aligned { words } else { Buffer::from(words.as_slice()) })
    }
}

impl Nodes for Mapped {
    #[inline]
    fn words(&self, node: usize, width: usize) -> &[u64] {
        &self.0.typed_data::<u64>()[node * width..(node + 1) * width]
    }
}
