//! The history of one attribute: written blocks, intervals after them, and the current state.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_buffer::Buffer;
use flate2::Crc;

use super::block::{Tail, View};
use super::cell::{Cell, Kind, Value};
use super::fault::Fault;
use super::mipmap::Coarse;
use super::near::{Near, expected, partition};

/// The place of a block, and its first start.
pub struct BlockAt {
    pub first: i64,
    pub offset: u64,
    pub size: u32,
    pub checksum: u32,
    pub verified: AtomicBool,
}

/// A mark of a state.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    #[default]
    None,
    /// Needed in a partial history.
    Needed,
    /// Unknown, since a replay starts there.
    Unknown,
}

/// The state of an attribute since its last change.
#[derive(Clone, Default)]
pub struct Ongoing {
    pub start: i64,
    pub cell: Cell,
    pub mark: Mark,
}

impl Ongoing {
    pub fn new(start: i64, cell: Cell) -> Ongoing {
        Ongoing { start, cell, mark: Mark::None }
    }
}

#[derive(Default)]
pub struct Track {
    pub kind: Kind,
    pub coarse: Coarse,
    pub blocks: Vec<BlockAt>,
    pub tail: Tail,
    pub ongoing: Ongoing,
    /// The end of the last interval, if that is not the end of the history.
    pub last_end: Option<i64>,
}

/// The source of blocks.
pub enum Blocks {
    Nowhere,
    File(File),
    Mapped(Buffer),
}

impl Blocks {
    /// # Errors
    /// The block cannot be read, or differs from the one written.
    pub fn bytes(&self, at: &BlockAt) -> Result<Cow<'_, [u8]>, Fault> {
        let size = at.size as usize;
        let bytes = match self {
            Blocks::Nowhere => None,
            Blocks::File(file) => {
                let mut bytes = vec![0; size];
                file.read_exact_at(&mut bytes, at.offset)?;
                Some(Cow::Owned(bytes))
            }
            Blocks::Mapped(all) => usize::try_from(at.offset)
                .ok()
                .and_then(|begin| all.get(begin..begin.checked_add(size)?))
                .map(Cow::Borrowed),
        };
        let bytes = bytes.ok_or_else(|| Fault::Damaged("the history is damaged: a block is not there".to_owned()))?;
        if !at.verified.load(Ordering::Relaxed) {
            if checksum(&bytes) != at.checksum {
                let text = "the history is damaged: the checksum of a block is wrong";
                return Err(Fault::Damaged(text.to_owned()));
            }
            at.verified.store(true, Ordering::Relaxed);
        }
        Ok(bytes)
    }
}

pub fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Consecutive intervals of one attribute, wherever they are stored.
pub enum Run<'a> {
    Block(View<'a>),
    Tail(&'a Tail, Kind),
    Ongoing(&'a Ongoing),
}

impl Run<'_> {
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Run::Block(view) => view.count,
            Run::Tail(tail, _) => tail.len(),
            Run::Ongoing(_) => 1,
        }
    }

    #[inline]
    pub fn start(&self, row: usize) -> i64 {
        match self {
            Run::Block(view) => view.start(row),
            Run::Tail(tail, _) => tail.rows[row].start,
            Run::Ongoing(one) => one.start,
        }
    }

    #[inline]
    pub fn end(&self, row: usize) -> Option<i64> {
        match self {
            Run::Block(view) => view.end(row),
            Run::Tail(tail, _) => tail.ends.get(row).copied(),
            Run::Ongoing(_) => None,
        }
    }

    /// # Errors
    /// The block is damaged.
    #[inline]
    pub fn value(&self, row: usize) -> Result<Value<'_>, Fault> {
        match self {
            Run::Block(view) => view.value(row),
            Run::Tail(tail, kind) => Ok(tail.value(*kind, row)),
            Run::Ongoing(one) => Ok(one.cell.value()),
        }
    }

    /// The last interval that begins at a time or before it, searched near a place.
    #[inline]
    pub fn at(&self, time: i64, near: Near) -> Option<usize> {
        let behind = match self {
            Run::Block(view) => view.begun(time, near),
            _ => partition(self.len(), near, |row| self.start(row) <= time),
        };
        behind.checked_sub(1)
    }
}

impl Track {
    /// The number of runs: blocks, the tail, and the current state if the history is not closed.
    pub fn runs(&self, open: bool) -> usize {
        self.blocks.len() + usize::from(self.tail.len() > 0) + usize::from(open)
    }

    /// The start of a run.
    pub fn begin(&self, run: usize) -> i64 {
        match self.blocks.get(run) {
            Some(block) => block.first,
            None if run == self.blocks.len() && self.tail.len() > 0 => self.tail.rows[0].start,
            None => self.ongoing.start,
        }
    }

    /// The run that contains a time, in a history that ends about `until`.
    pub fn run_at(&self, time: i64, until: i64, open: bool) -> Option<usize> {
        let runs = self.runs(open);
        for run in (self.blocks.len()..runs).rev() {
            if self.begin(run) <= time {
                return Some(run);
            }
        }
        let begin = self.blocks.first().map_or(0, |block| block.first);
        let near = expected(time, (begin, until), self.blocks.len());
        let behind = partition(self.blocks.len(), near, |run| self.blocks[run].first <= time);
        behind.checked_sub(1)
    }
}
