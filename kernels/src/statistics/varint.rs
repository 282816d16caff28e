//! Integers in one to ten bytes: seven bits a byte, lowest first, the high bit set on all but the last.

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

/// Numbers from bytes; None at their end, or where the bytes are invalid.
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
    /// The compressor of a thread's last packer, reused by the next one.
    static SPARE: Cell<Option<Compress>> = const { Cell::new(None) };
}

/// Compresses many small inputs without the cost of initializing for each.
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

    /// Compress with zlib; stop and return None once the output exceeds `most` bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        let edges = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let numbers: Vec<u64> = edges.chain([u64::MAX]).collect();
        let mut bytes = Vec::new();
        for number in &numbers {
            let before = bytes.len();
            put(&mut bytes, *number);
            let bits = (u64::BITS - number.leading_zeros()).max(1);
            assert_eq!(bytes.len() - before, bits.div_ceil(7) as usize, "{number}");
        }
        assert_eq!(Varints(&bytes).collect::<Vec<u64>>(), numbers);
    }

    #[test]
    fn what_is_no_number_is_none() {
        for bytes in [&[] as &[u8], &[0x80], &[0xff; 9], &[0xff; 11]] {
            assert_eq!(Varints(bytes).next(), None, "{bytes:?}");
        }
        let mut largest = [0xff; 10];
        largest[9] = 1;
        assert_eq!(Varints(&largest).next(), Some(u64::MAX));
        largest[9] = 2;
        assert_eq!(Varints(&largest).next(), None);
    }

    #[test]
    fn a_packer_is_used_again_and_stops_at_its_bound() {
        let text: Vec<u8> = (0..50_000_u32).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for _ in 0..2 {
            let mut packer = Packer::new();
            for length in [0, 1, 100, text.len()] {
                let packed = packer.pack(&text[..length], 6, usize::MAX).expect("there is memory");
                let mut read = Vec::new();
                let mut decoder = flate2::read::ZlibDecoder::new(packed.as_slice());
                std::io::Read::read_to_end(&mut decoder, &mut read).expect("zlib");
                assert_eq!(read, text[..length]);
                assert_eq!(packer.pack(&text[..length], 6, packed.len()), Some(packed.clone()));
                assert_eq!(packer.pack(&text[..length], 6, packed.len() - 1), None);
            }
        }
    }
}
