//! The layout of a lane's index.
//!
//! Blocks of rows form groups. First come the words of each group: the start times of its blocks, then the nodes of a
//! forest over the blocks. So the block where a cell ends is found in the same page of memory as the nodes to aggregate
//! the cell from. After all groups come words that are few enough for the processor's caches: the start times of
//! groups, then the nodes of a forest over whole groups.

use std::ops::Range;

/// Blocks of a group.
pub const GROUP: usize = 64;
/// Words of a page of memory.
const PAGE: usize = 512;
/// With at least this many groups, each is aligned to pages.
const PAGED: usize = 16;

#[derive(Clone, Copy)]
pub struct Form {
    pub blocks: usize,
    /// Words of a node.
    pub width: usize,
}

impl Form {
    /// The number of groups; the last one may have fewer blocks than the others.
    pub fn groups(self) -> usize {
        self.blocks.div_ceil(GROUP)
    }

    /// The number of whole groups.
    pub fn whole(self) -> usize {
        self.blocks / GROUP
    }

    /// Words of a block: its start time, a leaf, an inner node.
    pub fn of_block(self) -> usize {
        1 + 2 * self.width
    }

    /// Whether groups are aligned to pages; a lane of few would waste too much room.
    fn paged(self) -> bool {
        self.whole() >= PAGED
    }

    /// Return the offset of the index if it may begin at this offset.
    pub fn begin(self, words: usize) -> usize {
        if self.paged() { words.next_multiple_of(PAGE) } else { words }
    }

    /// Words of a whole group, with padding to its last page.
    pub fn each(self) -> usize {
        self.begin(GROUP * self.of_block())
    }

    fn blocks_of(self, group: usize) -> usize {
        GROUP.min(self.blocks - group * GROUP)
    }

    /// The start times of a group's blocks.
    pub fn starts(self, group: usize) -> Range<usize> {
        let at = group * self.each();
        at..at + self.blocks_of(group)
    }

    /// The nodes of the forest over a group's blocks.
    pub fn nodes(self, group: usize) -> Range<usize> {
        let at = self.starts(group).end;
        at..at + 2 * self.blocks_of(group) * self.width
    }

    /// The words of some groups.
    pub fn some(self, groups: Range<usize>) -> Range<usize> {
        let rest = self.blocks % GROUP * self.of_block();
        let at = |group: usize| group.min(self.whole()) * self.each();
        let more = if groups.end > self.whole() { rest } else { 0 };
        at(groups.start)..at(groups.end) + more
    }

    /// The start times of groups.
    pub fn firsts(self) -> Range<usize> {
        let at = self.some(0..self.groups()).end;
        at..at + self.groups()
    }

    /// The nodes of the forest over whole groups.
    pub fn forest(self) -> Range<usize> {
        let at = self.firsts().end;
        at..at + 2 * self.whole() * self.width
    }

    /// All words.
    pub fn words(self) -> usize {
        self.forest().end
    }
}
