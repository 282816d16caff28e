//! Compressed records -> the records in them: one zstd stream runs through all, and gives them with a delay.

use std::io::Read;

use ruzstd::decoding::FrameDecoder;

/// The longest header of a frame.
const HEADER: usize = 18;
/// How many times as long the records may be as what they were packed in, beyond a first part.
const RATIO: u64 = 1000;
const FREE: u64 = 64 << 20;
/// The end of a frame that has no end of its own: an empty last block.
const LAST_BLOCK: [u8; 3] = [1, 0, 0];

/// Why no more can be unpacked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Damaged,
    TooMuch,
}

/// Where in the stream it stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    Inside,
    /// Behind the last block of a frame with a checksum.
    Checksum,
}

/// The stream so far.
#[derive(Default)]
pub struct Unpacker {
    decoder: FrameDecoder,
    place: Place,
    /// Whether the frame ends with a checksum.
    summed: bool,
    packed: Vec<u8>,
    taken: u64,
    given: u64,
}

impl Unpacker {
    /// Unpack what can be, behind `out`.
    ///
    /// # Errors
    /// The stream is damaged, or grows beyond measure.
    pub fn add(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        self.taken += packed.len() as u64;
        self.packed.extend_from_slice(packed);
        let mut at = 0;
        let outcome = loop {
            match self.advance(at, out) {
                Ok(0) => break Ok(()),
                Ok(used) => at += used,
                Err(stop) => break Err(stop),
            }
        };
        self.packed.drain(..at.min(self.packed.len()));
        outcome
    }

    /// Give what was held back for the sake of what might have followed.
    ///
    /// # Errors
    /// As those of `add`.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        if self.place == Place::Inside {
            self.packed.clear();
            self.packed.extend_from_slice(&LAST_BLOCK);
            self.block(0, out)?;
        }
        Ok(())
    }

    /// One step from a place in what is packed; how much of that it used.
    fn advance(&mut self, at: usize, out: &mut Vec<u8>) -> Result<usize, Stop> {
        let rest = self.packed.get(at..).unwrap_or_default();
        match self.place {
            Place::Inside => return self.block(at, out),
            Place::Checksum if rest.len() < 4 => return Ok(0),
            Place::Checksum => {
                self.place = Place::Between;
                return Ok(4);
            }
            Place::Between if rest.is_empty() => return Ok(0),
            Place::Between => {}
        }
        let mut header = rest;
        match self.decoder.reset(&mut header) {
            Ok(()) => {
                self.place = Place::Inside;
                self.summed = rest.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
                Ok(rest.len() - header.len())
            }
            Err(_) if rest.len() < HEADER => Ok(0),
            Err(_) => Err(Stop::Damaged),
        }
    }

    fn block(&mut self, at: usize, out: &mut Vec<u8>) -> Result<usize, Stop> {
        let rest = self.packed.get(at..).unwrap_or_default();
        let [a, b, c, ..] = *rest else {
            return Ok(0);
        };
        let header = u32::from_le_bytes([a, b, c, 0]);
        // A block of one byte repeated holds only that byte.
        let size = match header >> 1 & 3 {
            1 => 1,
            _ => (header >> 3) as usize,
        };
        let Some(block) = rest.get(..size + 3) else {
            return Ok(0);
        };
        // Blocks go in one by one, since the decoder would unpack all that it is given at once.
        self.decoder
            .decode_from_to(block, &mut [])
            .map_err(|_| Stop::Damaged)?;
        if header & 1 == 1 {
            self.place = if self.summed {
                Place::Checksum
            } else {
                Place::Between
            };
        }
        let before = out.len();
        let mut piece = [0; 1 << 12];
        loop {
            match self.decoder.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => out.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(_) => return Err(Stop::Damaged),
            }
        }
        self.given += (out.len() - before) as u64;
        if self.given > FREE && self.given / RATIO > self.taken {
            return Err(Stop::TooMuch);
        }
        Ok(size + 3)
    }
}
