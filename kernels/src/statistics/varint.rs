//! Whole numbers in one to ten bytes: seven bits a byte, lowest first, the high bit set on all but the last.

use std::cell::Cell;

use flate2::{Compress, Compression, FlushCompress, Status};

#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Numbers from bytes; None at their end, or where there is none.
pub struct Varints<'a>(pub &'a [u8]);

impl Iterator for Varints<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for place in 0..10 {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if place == 9 && bits > 1 {
                return None;
            }
            value |= bits << (7 * place);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

thread_local! {
    /// What the last packer of a thread leaves for its next one.
    static SPARE: Cell<Option<Compress>> = const { Cell::new(None) };
}

/// Compresses many small things, without the cost of beginning anew for each.
pub struct Packer(Option<Compress>);

impl Drop for Packer {
    fn drop(&mut self) {
        SPARE.set(self.0.take());
    }
}

impl Packer {
    pub fn new() -> Packer {
        let new = || Compress::new(Compression::default(), true);
        Packer(Some(SPARE.take().unwrap_or_else(new)))
    }

    /// Compress with zlib; None if that makes more than `most` bytes, as soon as it is known.
    pub fn pack(&mut self, bytes: &[u8], level: u32, most: usize) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity((bytes.len() / 4 + 64).min(most.saturating_add(1)));
        let packer = self.0.as_mut()?;
        if packer.total_in() + packer.total_out() > 0 {
            packer.reset();
        }
        packer.set_level(Compression::new(level)).ok()?;
        while out.len() <= most {
            let done = usize::try_from(packer.total_in()).ok()?;
            let rest = bytes.get(done..)?;
            match packer.compress_vec(rest, &mut out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return Some(out).filter(|out| out.len() <= most),
                Ok(_) => out.reserve(out.capacity().max(64)),
                Err(_) => return None,
            }
        }
        None
    }
}
