//! A file's text -> a sliding window of it that grows to the size of a single value.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::input::{Checkpoint, Damage, Input, Step};

/// Bytes of text per read.
const STEP: usize = 1 << 19;
/// The same while reading a long value.
const MOST: usize = 16 << 20;
/// Maximum ratio of unpacked to packed size, once there is much text.
const MOST_RATIO: u64 = 500;
const MUCH: u64 = 256 << 20;

/// The place of the text in a file: the whole file, or a part of it as in zip archives.
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

/// The text of a file from a place on.
pub struct Feed {
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    /// The place of `buffer` in the text.
    base: u64,
    /// The start of the part in the file.
    origin: u64,
    ended: bool,
}

impl Feed {
    /// Start reading a file, or a part of it; `done` counts the bytes read.
    pub fn open(path: &Path, part: Option<Part>, done: Arc<AtomicU64>) -> io::Result<Feed> {
        let input = match part {
            None => Input::open(path, done)?,
            Some(part) => {
                Input::at(path, &place_of(part), done)?.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?
            }
        };
        Ok(Feed { input, buffer: Vec::new(), at: 0, base: 0, origin: part.map_or(0, |part| part.offset), ended: false })
    }

    /// The text that was read and not consumed yet.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.buffer.len());
    }

    /// The number of consumed bytes.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Whether `rest` is all there is.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Why the text ended early, after its end.
    pub fn damage(&self) -> Option<Damage> {
        self.input.damage
    }

    /// Read more, about as much again as `rest` has; false at the end.
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
        c_offset: part.offset,
        c_size: part.size,
        window: part.packed.then(Vec::new),
        packed: part.packed,
        ..Checkpoint::default()
    }
}
