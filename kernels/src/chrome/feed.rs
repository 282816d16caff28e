//! A file's text -> a window of it that slides on and grows as far as one value needs.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::access::{Checkpoint, Damage, Input, Step};

/// Text that is read at a time.
const STEP: usize = 1 << 19;
/// The same where a long value is read.
const MOST: usize = 16 << 20;
/// Unpacked text may be so many times as large as what it is packed in, once there is much of it.
const MOST_RATIO: u64 = 500;
const MUCH: u64 = 256 << 20;

/// Where the text is in a file: the whole file, or a part of it as zip archives have it.
#[derive(Clone, Copy)]
pub struct Part {
    pub offset: u64,
    pub size: u64,
    pub packed: bool,
}

/// Why there is no more text.
pub enum Halt {
    Io(io::Error),
    /// The text is absurdly larger than the file.
    Bomb,
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Halt {
        Halt::Io(error)
    }
}

/// The text of a file from some place on.
pub struct Feed {
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    /// Where `buffer` begins in the text.
    base: u64,
    /// Where the part begins in the file.
    origin: u64,
    ended: bool,
}

impl Feed {
    /// Begin to read a file, or a part of it; `done` counts the bytes that are read.
    pub fn open(path: &Path, part: Option<Part>, done: Arc<AtomicU64>) -> io::Result<Feed> {
        let input = match part {
            None => Input::open(path, done)?,
            Some(part) => {
                Input::at(path, &place_of(part), done)?.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?
            }
        };
        Ok(Feed { input, buffer: Vec::new(), at: 0, base: 0, origin: part.map_or(0, |part| part.offset), ended: false })
    }

    /// The text that was read and not passed yet.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.buffer.len());
    }

    /// How much of the text was passed.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Whether `rest` is all there is.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Why the text ended early, once it did.
    pub fn damage(&self) -> Option<Damage> {
        self.input.damage
    }

    /// Read on, about as much again as `rest` has; false at the end.
    pub fn more(&mut self) -> Result<bool, Halt> {
        if self.ended {
            return Ok(false);
        }
        self.base += self.at as u64;
        self.buffer.drain(..self.at);
        self.at = 0;
        let had = self.buffer.len();
        let wanted = had.saturating_add(had.clamp(STEP, MOST));
        while self.buffer.len() < wanted {
            let room = STEP.min(wanted - self.buffer.len());
            if self.input.read(&mut self.buffer, room, false)? == Step::End {
                self.ended = true;
                break;
            }
        }
        let text = self.base + self.buffer.len() as u64;
        let file = self.input.position().saturating_sub(self.origin);
        if text > MUCH && text / MOST_RATIO > file {
            return Err(Halt::Bomb);
        }
        Ok(self.buffer.len() > had)
    }
}

fn place_of(part: Part) -> Checkpoint {
    Checkpoint {
        file: 0,
        number: 0,
        uc_offset: 0,
        uc_size: 0,
        c_offset: part.offset,
        c_size: part.size,
        bits: 0,
        window: part.packed.then(Vec::new),
        skip: 0,
        first_line: 0,
        lines: 0,
        packed: part.packed,
    }
}
