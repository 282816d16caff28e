//! Unpack zlib and zstd streams in memory, piece by piece, without trusting the sizes in them.
//!
//! The library rejects frames of zstd with a window above 128 MiB, as the program `zstd` does.

use std::io;

use zlib_rs::{Inflate, InflateError, InflateFlush, Status};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Bytes that are unpacked between two looks at a limit.
const PIECE: u64 = 1 << 18;

/// Unpacks one stream after the other.
pub enum Unpacker {
    Zlib(Box<Inflate>),
    Zstd(Decoder<'static>),
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// More output is available from the input.
    More,
    /// All input is unpacked.
    Hungry,
    /// The stream ended.
    Ended,
}

impl Unpacker {
    pub fn zlib() -> Unpacker {
        Unpacker::Zlib(Box::new(Inflate::new(true, 15)))
    }

    /// # Errors
    /// Out of memory.
    pub fn zstd() -> io::Result<Unpacker> {
        Decoder::new().map(Unpacker::Zstd)
    }

    /// Unpack from a place on, appended to `out`: `room` bytes, or more if it has the capacity.
    ///
    /// # Errors
    /// The stream is damaged.
    pub fn step(&mut self, packed: &[u8], at: &mut usize, out: &mut Vec<u8>, room: usize) -> io::Result<Step> {
        let (had, rest) = (out.len(), packed.get(*at..).unwrap_or_default());
        let (read, ended, full) = match self {
            Unpacker::Zlib(state) => {
                let (read, status) = inflate(state, rest, out, room, InflateFlush::NoFlush);
                let status = status.map_err(|_| io::Error::other("corrupt deflate stream"))?;
                (read, status == Status::StreamEnd, out.len() - had == room)
            }
            Unpacker::Zstd(decoder) => {
                out.reserve(room.max(1));
                let space = out.capacity();
                let (mut input, mut output) = (InBuffer::around(rest), OutBuffer::around_pos(out, had));
                let left = decoder.run(&mut input, &mut output)?;
                (input.pos(), left == 0, output.pos() == space)
            }
        };
        *at += read;
        Ok(match ended {
            true => Step::Ended,
            false if full || read < rest.len() => Step::More,
            false => Step::Hungry,
        })
    }

    /// Unpack a whole stream into `out`, or the first `most` bytes of it.
    ///
    /// # Errors
    /// The stream is damaged, or ends early.
    pub fn whole(&mut self, packed: &[u8], most: u64, out: &mut Vec<u8>) -> io::Result<()> {
        out.clear();
        let done = self.stream(packed, most, out);
        out.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        done
    }

    fn stream(&mut self, packed: &[u8], most: u64, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Unpacker::Zlib(state) => state.reset(true),
            Unpacker::Zstd(decoder) => decoder.reinit()?,
        }
        let mut at = 0;
        while (out.len() as u64) < most {
            let room = PIECE.min(most - out.len() as u64) as usize;
            match self.step(packed, &mut at, out, room)? {
                Step::More => {}
                Step::Ended => return Ok(()),
                Step::Hungry => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(())
    }
}

/// Inflate at most `room` bytes, appended to `out`; returns the number of bytes read as well.
pub fn inflate(
    state: &mut Inflate,
    packed: &[u8],
    out: &mut Vec<u8>,
    room: usize,
    flush: InflateFlush,
) -> (usize, Result<Status, InflateError>) {
    let start = out.len();
    out.resize(start + room, 0);
    let (had_in, had_out) = (state.total_in(), state.total_out());
    let status = state.decompress(packed, &mut out[start..], flush);
    let written = (state.total_out() - had_out) as usize;
    out.truncate(start + written.min(room));
    ((state.total_in() - had_in) as usize, status)
}

/// A limit against bombs: the ratio of unpacked to packed bytes, once there are more of them than `free`.
pub struct Ratio {
    pub most: u64,
    pub free: u64,
}

impl Ratio {
    pub fn exceeded(&self, packed: u64, unpacked: u64) -> bool {
        unpacked > self.free && unpacked / self.most > packed
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn cases(text: &[u8]) -> [(Unpacker, Vec<u8>); 2] {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).expect("memory takes it");
        let packed = encoder.finish().expect("memory takes it");
        let zstd = Unpacker::zstd().expect("there is memory");
        [(Unpacker::zlib(), packed), (zstd, zstd::bulk::compress(text, 1).expect("memory takes it"))]
    }

    #[test]
    fn streams_are_unpacked_up_to_a_limit_and_errors_leave_what_came_before() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(|at| (at / 7).to_le_bytes()).collect();
        for (mut unpacker, mut packed) in cases(&text) {
            let mut out = vec![1];
            for most in [u64::MAX, text.len() as u64, 1_000_000, 1, 0] {
                unpacker.whole(&packed, most, &mut out).expect("it is intact");
                assert_eq!(out, text[..text.len().min(most as usize)]);
            }
            let half = &packed[..packed.len() / 2];
            let error = unpacker.whole(half, u64::MAX, &mut out).expect_err("it is cut off");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(!out.is_empty() && text.starts_with(&out));
            packed[0] ^= 0xff;
            assert!(unpacker.whole(&packed, u64::MAX, &mut out).is_err() && out.is_empty());
        }
    }

    #[test]
    fn a_ratio_counts_once_there_is_much() {
        let bomb = Ratio { most: 10, free: 1000 };
        let exceeded = [(1, 1000), (100, 1001), (99, 1001), (99, 1000)].map(|(packed, out)| bomb.exceeded(packed, out));
        assert_eq!(exceeded, [false, false, true, false]);
    }
}
