//! Files and compressed packets -> bytes of packets.

use std::io;

use zlib_rs::{Inflate, InflateFlush, Status};

use super::packets::Bytes;
use crate::input::{self, Input};
use crate::zstd::{Frames, Step};

/// Maximum size of a compressed packet; recorders put much less into one.
const MOST_UNPACKED: u64 = 512 << 20;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

impl Bytes for Input {
    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool> {
        let had = out.len();
        while out.len() == had {
            if self.read(out, room, false)? == input::Step::End {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

enum How {
    Deflate(Box<Inflate>, Vec<u8>),
    /// The packed bytes, and the position in them.
    Zstd(Frames, Vec<u8>, usize),
}

/// Why a compressed packet could not be read to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    Damaged,
    TooLarge,
}

/// The contents of a compressed packet.
pub struct Unpacked {
    how: Option<How>,
    given: u64,
    pub trouble: Option<Trouble>,
}

impl Unpacked {
    /// Start unpacking; the packet does not name its compression, but its first bytes identify it.
    pub fn new(packed: &[u8]) -> Unpacked {
        let how = match packed.starts_with(&ZSTD) {
            true => Frames::new().ok().map(|frames| How::Zstd(frames, packed.to_vec(), 0)),
            false => Some(How::Deflate(Box::new(Inflate::new(true, 15)), packed.to_vec())),
        };
        Unpacked { trouble: how.is_none().then_some(Trouble::Damaged), how, given: 0 }
    }

    fn end(&mut self, trouble: Option<Trouble>) -> bool {
        self.trouble = trouble;
        self.how = None;
        false
    }
}

impl Bytes for Unpacked {
    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool> {
        if self.given >= MOST_UNPACKED {
            return Ok(self.end(Some(Trouble::TooLarge)));
        }
        let start = out.len();
        let ended = match &mut self.how {
            None => Ok(true),
            Some(How::Deflate(inflate, packed)) => {
                out.resize(start + room, 0);
                let space = out.get_mut(start..).unwrap_or_default();
                let (written, ended) = inflated(inflate, packed, space);
                out.truncate(start + written.min(room));
                ended
            }
            Some(How::Zstd(frames, packed, at)) => match frames.step(packed, at, out, room) {
                Ok(Step::More) => Ok(false),
                Ok(Step::Ended) => Ok(true),
                Ok(Step::Hungry) | Err(_) => Err(()),
            },
        };
        self.given += (out.len() - start) as u64;
        Ok(match ended {
            Ok(false) => true,
            Ok(true) => {
                let trouble = self.trouble;
                self.end(trouble)
            }
            Err(()) => self.end(Some(Trouble::Damaged)),
        })
    }
}

/// The number of bytes written, and whether the stream has ended.
fn inflated(inflate: &mut Inflate, packed: &[u8], space: &mut [u8]) -> (usize, Result<bool, ()>) {
    let (read, had) = (inflate.total_in(), inflate.total_out());
    let rest = usize::try_from(read).ok().and_then(|read| packed.get(read..));
    let status = inflate.decompress(rest.unwrap_or_default(), space, InflateFlush::NoFlush);
    let written = usize::try_from(inflate.total_out() - had).unwrap_or(0);
    let ended = match status {
        Ok(Status::StreamEnd) => Ok(true),
        Ok(_) if written == 0 && inflate.total_in() == read => Err(()),
        Ok(_) => Ok(false),
        Err(_) => Err(()),
    };
    (written, ended)
}
