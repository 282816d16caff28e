//! Unpack compressed packets into the bytes of the packets in them.

use std::io;

use crate::input::Source;
use crate::input::unpack::{Step, Unpacker};

/// Maximum size of a compressed packet; recorders put much less into one.
const MOST_UNPACKED: u64 = 512 << 20;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Why a compressed packet could not be read to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    Damaged,
    TooLarge,
}

/// The contents of a compressed packet.
pub struct Unpacked {
    packed: Vec<u8>,
    at: usize,
    unpacker: Option<Unpacker>,
    given: u64,
    pub trouble: Option<Trouble>,
}

impl Unpacked {
    /// Start unpacking; the packet does not name its compression, but its first bytes identify it.
    pub fn new(packed: &[u8]) -> Unpacked {
        let unpacker = match packed.starts_with(&ZSTD) {
            true => Unpacker::zstd().ok(),
            false => Some(Unpacker::zlib()),
        };
        let trouble = unpacker.is_none().then_some(Trouble::Damaged);
        Unpacked { packed: packed.to_vec(), at: 0, unpacker, given: 0, trouble }
    }

    fn end(&mut self, trouble: Option<Trouble>) -> bool {
        self.trouble = trouble;
        self.unpacker = None;
        false
    }
}

impl Source for Unpacked {
    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool> {
        if self.given >= MOST_UNPACKED {
            return Ok(self.end(Some(Trouble::TooLarge)));
        }
        let Some(unpacker) = &mut self.unpacker else {
            return Ok(false);
        };
        let start = out.len();
        let step = unpacker.step(&self.packed, &mut self.at, out, room);
        self.given += (out.len() - start) as u64;
        Ok(match step {
            Ok(Step::More) => true,
            Ok(Step::Ended) => self.end(None),
            Ok(Step::Hungry) | Err(_) => self.end(Some(Trouble::Damaged)),
        })
    }
}
