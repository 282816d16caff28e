//! Unpack records that are compressed as a single zstd stream.

use crate::input::unpack::{Ratio, Step, Unpacker};

const BOMB: Ratio = Ratio { most: 1000, free: 64 << 20 };
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
pub struct Records {
    unpacker: Option<Unpacker>,
    taken: u64,
    given: u64,
}

impl Records {
    /// Unpack as much as possible, appended to `out`.
    ///
    /// # Errors
    /// The stream is damaged, or grows too large.
    pub fn add(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(Unpacker::zstd().map_err(|_| Stop::Damaged)?),
        };
        self.taken += packed.len() as u64;
        let mut at = 0;
        loop {
            let had = out.len();
            let step = unpacker.step(packed, &mut at, out, PIECE);
            self.given += (out.len() - had) as u64;
            if BOMB.exceeded(self.taken, self.given) {
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
