//! Whole numbers in one to ten bytes: seven bits a byte, lowest first, the high bit set on all but the last.

use std::io::{self, Write};

use flate2::write::ZlibEncoder;
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

/// Compress with zlib; None if that makes more than `most` bytes, as soon as it is known.
pub fn zlib(bytes: &[u8], level: u32, most: usize) -> Option<Vec<u8>> {
    let out = Limited {
        bytes: Vec::new(),
        most,
    };
    let mut encoder = ZlibEncoder::new(out, Compression::new(level));
    encoder.write_all(bytes).ok()?;
    Some(encoder.finish().ok()?.bytes)
}

/// Compresses many small things, without the cost of beginning anew for each.
pub struct Packer(Compress);

impl Packer {
    pub fn new(level: u32) -> Packer {
        Packer(Compress::new(Compression::new(level), true))
    }

    /// Compress with zlib.
    pub fn pack(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len() / 4 + 64);
        self.0.reset();
        loop {
            let done = usize::try_from(self.0.total_in()).ok()?;
            let rest = bytes.get(done..)?;
            match self.0.compress_vec(rest, &mut out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return Some(out),
                Ok(_) => out.reserve(out.capacity().max(64)),
                Err(_) => return None,
            }
        }
    }
}

struct Limited {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::Error::other("too long"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
