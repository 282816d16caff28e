//! Where the words of a lane's index stand.
//!
//! Blocks of rows are taken together in groups. First come the words of each group: when the first row of each of its
//! blocks begins, then the nodes of a forest over the blocks. So the page of memory in which the block is found where a
//! cell ends is also the one from which the cell is added up. Behind all groups stand words that are few enough for the
//! processor's caches: when the first row of each group begins, then the nodes of a forest over whole groups.

use std::ops::Range;

/// Blocks of a group.
pub const GROUP: usize = 64;
/// Words of a page of memory.
const PAGE: usize = 512;
/// Of so many groups or more, each begins with a page.
const PAGED: usize = 16;

#[derive(Clone, Copy)]
pub struct Form {
    pub blocks: usize,
    /// Words of a node.
    pub width: usize,
}

impl Form {
    /// How many groups there are; the last one may have fewer blocks than the others.
    pub fn groups(self) -> usize {
        self.blocks.div_ceil(GROUP)
    }

    /// How many groups are whole.
    pub fn whole(self) -> usize {
        self.blocks / GROUP
    }

    /// Words of a block: when it begins, a leaf, an inner node.
    pub fn of_block(self) -> usize {
        1 + 2 * self.width
    }

    /// Whether groups stand on whole pages, for which a lane of few would have no room.
    fn paged(self) -> bool {
        self.whole() >= PAGED
    }

    /// Return behind how many words the index begins where it may begin behind so many.
    pub fn begin(self, words: usize) -> usize {
        if self.paged() { words.next_multiple_of(PAGE) } else { words }
    }

    /// Words of a whole group, and of what is left of its last page.
    pub fn each(self) -> usize {
        self.begin(GROUP * self.of_block())
    }

    fn blocks_of(self, group: usize) -> usize {
        GROUP.min(self.blocks - group * GROUP)
    }

    /// When the first rows of a group's blocks begin.
    pub fn starts(self, group: usize) -> Range<usize> {
        let at = group * self.each();
        at..at + self.blocks_of(group)
    }

    /// The nodes of the forest over a group's blocks.
    pub fn nodes(self, group: usize) -> Range<usize> {
        let at = self.starts(group).end;
        at..at + 2 * self.blocks_of(group) * self.width
    }

    /// Some groups.
    pub fn some(self, groups: Range<usize>) -> Range<usize> {
        let rest = self.blocks % GROUP * self.of_block();
        let at = |group: usize| group.min(self.whole()) * self.each();
        let more = if groups.end > self.whole() { rest } else { 0 };
        at(groups.start)..at(groups.end) + more
    }

    /// When the first rows of groups begin.
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
