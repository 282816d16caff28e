//! zstd frames -> their contents, piece by piece, without trusting the sizes in the frames.
//!
//! The library rejects frames with a window above 128 MiB, as the program `zstd` does.

use std::io;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Unpacks one frame after the other.
pub struct Frames(Decoder<'static>);

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// More output is available from the input.
    More,
    /// All input is unpacked.
    Hungry,
    /// A frame ended.
    Ended,
}

impl Frames {
    /// # Errors
    /// Out of memory.
    pub fn new() -> io::Result<Frames> {
        Decoder::new().map(Frames)
    }

    /// Reset the state: a new frame follows.
    ///
    /// # Errors
    /// Never so far.
    pub fn reset(&mut self) -> io::Result<()> {
        self.0.reinit()
    }

    /// Unpack from a place on, appended to `out`: `room` bytes, or more if it has the capacity.
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
