//! Resume inflating at a place inside a deflate stream.
//!
//! A deflate block may begin at any bit of a byte, but inflaters begin at the first bit of one. So they first get
//! blocks without text, with exactly as many bits as are missing.

use zlib_rs::{Inflate, InflateFlush};

/// Maximum distance of references in deflate.
pub const WINDOW: usize = 1 << 15;
/// Length of the text that a place must reproduce to become a seek point.
const PROOF: usize = 512;

/// The order in which lengths of the code of code lengths are stored.
const LENGTH_ORDER: [u8; 18] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1];

/// Bits, written from the lowest one of each byte on.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn put(&mut self, value: u32, count: usize) {
        for bit in 0..count {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(value >> bit & 1 == 1) << (self.count % 8);
            }
            self.count += 1;
        }
    }

    /// An empty block with fixed codes, 10 bits.
    fn even_block(&mut self) {
        self.put(0b010, 3);
        self.put(0, 7);
    }

    /// An empty block with codes of its own, 93 bits: its only code is that of the block's end, one bit.
    fn odd_block(&mut self) {
        const REPEAT_ZERO: (u32, usize) = (0b11, 2);
        self.put(0b100, 3);
        self.put(0, 10);
        self.put(LENGTH_ORDER.len() as u32 - 4, 4);
        for symbol in LENGTH_ORDER {
            let length = match symbol {
                0 => 1,
                1 | 18 => 2,
                _ => 0,
            };
            self.put(length, 3);
        }
        for count in [138, 256 - 138] {
            self.put(REPEAT_ZERO.0, REPEAT_ZERO.1);
            self.put(count - 11, 7);
        }
        self.put(0b01, 2);
        self.put(0, 1);
        self.put(0, 1);
    }
}

/// Blocks without text that end `bits` bits before a byte's end.
fn padding(bits: u8) -> Vec<u8> {
    let mut padding = Bits::default();
    if !bits.is_multiple_of(2) {
        padding.odd_block();
    }
    while !(padding.count + usize::from(bits)).is_multiple_of(8) {
        padding.even_block();
    }
    padding.bytes
}

/// Make an inflater continue at a block that begins with the last `bits` bits of the byte `before`.
///
/// Returns false if it cannot.
pub fn resume(inflate: &mut Inflate, bits: u8, before: u8, window: &[u8]) -> bool {
    inflate.reset(false);
    if !window.is_empty() && inflate.set_dictionary(window).is_err() {
        return false;
    }
    if bits == 0 {
        return true;
    }
    let mut padding = padding(bits);
    if let Some(last) = padding.last_mut() {
        *last |= before & !(0xff >> bits);
    }
    let had = inflate.total_in();
    let done = inflate.decompress(&padding, &mut [0], InflateFlush::NoFlush);
    done.is_ok() && inflate.total_in() - had == padding.len() as u64
}

/// The number of bits of the byte `before` with which a deflate block begins, if everything else about it is known.
///
/// `packed` follows that byte, and `text` is the output of the blocks from there on; None if no number reproduces it.
pub fn find_bits(before: u8, packed: &[u8], window: &[u8], text: &[u8]) -> Option<u8> {
    if text.len() < PROOF {
        return None;
    }
    let mut inflate = Inflate::new(false, 15);
    let mut found = vec![0; text.len()];
    (0..8).find(|bits| {
        resume(&mut inflate, *bits, before, window) && {
            let had = inflate.total_out();
            let done = inflate.decompress(packed, &mut found, InflateFlush::NoFlush);
            done.is_ok() && inflate.total_out() - had == text.len() as u64 && found == text
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Text of words, with blocks that end at all bits of a byte.
    fn text() -> Vec<u8> {
        let mixed = (0..150_000_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (40 + at / 30_000));
        mixed.flat_map(|word| format!("{word:x} ").into_bytes()).collect()
    }

    fn deflated(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(text).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    /// The ends of blocks: in the packed bytes, and in the text.
    fn ends(packed: &[u8], text: &[u8]) -> Vec<(usize, usize)> {
        let mut inflate = Inflate::new(false, 15);
        let mut out = vec![0; text.len() + 1];
        let mut found = Vec::new();
        loop {
            let (at, done) = (inflate.total_in() as usize, inflate.total_out() as usize);
            let status = inflate.decompress(&packed[at..], &mut out[done..], InflateFlush::Block);
            if status.is_err() || inflate.total_out() as usize == text.len() {
                return found;
            }
            found.push((inflate.total_in() as usize, inflate.total_out() as usize));
        }
    }

    #[test]
    fn padding_has_no_text_and_lacks_so_many_bits() {
        for bits in 0..8 {
            let padding = padding(bits);
            let mut inflate = Inflate::new(false, 15);
            let mut out = [0; 8];
            assert!(inflate.decompress(&padding, &mut out, InflateFlush::NoFlush).is_ok(), "{bits}");
            assert_eq!((inflate.total_in(), inflate.total_out()), (padding.len() as u64, 0), "{bits}");
        }
    }

    #[test]
    fn inflating_goes_on_where_a_block_ends_at_any_bit() {
        let text = text();
        let packed = deflated(&text);
        let mut seen = [false; 8];
        for (at, done) in ends(&packed, &text) {
            let (window, rest) = (&text[done.saturating_sub(WINDOW)..done], &text[done..]);
            let proof = &rest[..rest.len().min(4 * PROOF)];
            let before = at.checked_sub(1).map_or(0, |at| packed[at]);
            let Some(bits) = find_bits(before, &packed[at..], window, proof) else {
                assert!(proof.len() < PROOF, "a block ends at {at}");
                continue;
            };
            seen[usize::from(bits)] = true;
            let mut inflate = Inflate::new(false, 15);
            assert!(resume(&mut inflate, bits, before, window));
            let (had, mut out) = (inflate.total_out(), vec![0; rest.len()]);
            assert!(inflate.decompress(&packed[at..], &mut out, InflateFlush::NoFlush).is_ok());
            assert_eq!((inflate.total_out() - had, out == rest), (rest.len() as u64, true), "{at}");
        }
        assert!(seen.iter().filter(|seen| **seen).count() > 3, "{seen:?}");
    }

    #[test]
    fn a_text_that_is_too_short_or_another_one_proves_nothing() {
        let text = text();
        let packed = deflated(&text);
        let (at, done) = ends(&packed, &text)[0];
        let window = &text[done.saturating_sub(WINDOW)..done];
        assert_eq!(find_bits(packed[at - 1], &packed[at..], window, &text[done..done + PROOF - 1]), None);
        let mut other = text[done..done + 2 * PROOF].to_vec();
        other[PROOF] ^= 1;
        assert_eq!(find_bits(packed[at - 1], &packed[at..], window, &other), None);
    }
}
