//! Read a file's text through a sliding window that grows to the size of a single value.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::input::unpack::Ratio;
use crate::input::{Damage, Input, Source, Window};

/// Bytes of text per read, at most, while reading a long value.
const MOST: usize = 16 << 20;
const BOMB: Ratio = Ratio { most: 500, free: 256 << 20 };

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
    window: Window<Input>,
    /// The start of the part in the file.
    origin: u64,
}

impl Feed {
    /// Start reading a file, or a part of it; `done` counts the bytes read.
    pub fn open(path: &Path, part: Option<Part>, done: Arc<AtomicU64>) -> io::Result<Feed> {
        let input = match part {
            None => Input::open(path, done)?,
            Some(part) => Input::part(path, (part.offset, part.size), part.packed, done)?,
        };
        Ok(Feed { window: Window::new(input), origin: part.map_or(0, |part| part.offset) })
    }

    /// The text that was read and not consumed yet.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        self.window.rest()
    }

    #[inline]
    pub fn pass(&mut self, bytes: usize) {
        self.window.pass(bytes);
    }

    /// The number of consumed bytes.
    pub fn offset(&self) -> u64 {
        self.window.offset()
    }

    /// Whether `rest` is all there is.
    pub fn ended(&self) -> bool {
        self.window.ended()
    }

    /// Why the text ended early, after its end.
    pub fn damage(&self) -> Option<Damage> {
        self.window.source.damage
    }

    /// Read more, about as much again as `rest` has; false at the end.
    pub fn more(&mut self) -> Result<bool, Halt> {
        if self.ended() {
            return Ok(false);
        }
        let had = self.rest().len();
        self.window.need(had.saturating_add(had.clamp(Input::STEP, MOST)))?;
        let text = self.offset() + self.rest().len() as u64;
        let file = self.window.source.position().saturating_sub(self.origin);
        if BOMB.exceeded(file, text) {
            return Err(Halt::Bomb);
        }
        Ok(self.rest().len() > had)
    }
}
