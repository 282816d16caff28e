//! zstd frames -> the bytes in them, piece by piece, so that no size that a frame tells is trusted.
//!
//! The library refuses frames whose window is longer than 128 MiB, as the program `zstd` does.

use std::io;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Unpacks one frame after the other.
pub struct Frames(Decoder<'static>);

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// There is more to come out of what was given.
    More,
    /// All that was given is unpacked.
    Hungry,
    /// A frame ended.
    Ended,
}

impl Frames {
    /// # Errors
    /// There is no memory left.
    pub fn new() -> io::Result<Frames> {
        Decoder::new().map(Frames)
    }

    /// Forget what was begun: a new frame follows.
    ///
    /// # Errors
    /// Never so far.
    pub fn reset(&mut self) -> io::Result<()> {
        self.0.reinit()
    }

    /// Unpack from a place on, behind `out`: `room` bytes, or as many more as it has room for.
    ///
    /// # Errors
    /// The frame is damaged.
    pub fn step(&mut self, packed: &[u8], at: &mut usize, out: &mut Vec<u8>, room: usize) -> io::Result<Step> {
        let had = out.len();
        out.reserve(room.max(1));
        let space = out.capacity();
        let mut input = InBuffer::around(packed.get(*at..).unwrap_or_default());
        let mut output = OutBuffer::around_pos(out, had);
        let left = self.0.run(&mut input, &mut output)?;
        let (read, filled) = (input.pos(), output.pos());
        *at += read;
        Ok(match left {
            0 => Step::Ended,
            _ if filled == space || *at < packed.len() => Step::More,
            _ => Step::Hungry,
        })
    }
}
