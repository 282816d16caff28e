//! Compressed records -> the records in them, compressed as a single zstd stream.

use crate::zstd::{Frames, Step};

/// Maximum ratio of unpacked to compressed size, beyond a first part.
const RATIO: u64 = 1000;
const FREE: u64 = 64 << 20;
/// Bytes that are unpacked between two checks of their size.
const PIECE: usize = 1 << 17;

/// Why unpacking stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Damaged,
    TooMuch,
}

/// The stream so far.
#[derive(Default)]
pub struct Unpacker {
    frames: Option<Frames>,
    taken: u64,
    given: u64,
}

impl Unpacker {
    /// Unpack as much as possible, appended to `out`.
    ///
    /// # Errors
    /// The stream is damaged, or grows too large.
    pub fn add(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let frames = match &mut self.frames {
            Some(frames) => frames,
            none => none.insert(Frames::new().map_err(|_| Stop::Damaged)?),
        };
        self.taken += packed.len() as u64;
        let mut at = 0;
        loop {
            let had = out.len();
            let step = frames.step(packed, &mut at, out, PIECE);
            self.given += (out.len() - had) as u64;
            if self.given > FREE && self.given / RATIO > self.taken {
                return Err(Stop::TooMuch);
            }
            match step.map_err(|_| Stop::Damaged)? {
                Step::Ended if at < packed.len() => {}
                Step::Ended | Step::Hungry => return Ok(()),
                Step::More => {}
            }
        }
    }
}
