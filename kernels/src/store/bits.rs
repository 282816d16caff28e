//! Numbers of few bits -> those bits, one number behind the other, as Parquet packs them.

use std::ops::{BitOr, Shl};

/// Numbers that are packed at once: those of any width are whole bytes.
pub const PART: usize = 32;

/// Puts each two neighbours into one number.
#[inline]
fn paired<From, To, const N: usize, const HALF: usize>(numbers: &[From; N], width: u32) -> [To; HALF]
where
    From: Copy + Into<To>,
    To: Copy + Default + Shl<u32, Output = To> + BitOr<Output = To>,
{
    let mut pairs = [To::default(); HALF];
    for (pair, [low, high]) in pairs.iter_mut().zip(numbers.as_chunks::<2>().0) {
        *pair = (*low).into() | (*high).into() << width;
    }
    pairs
}

/// Appends numbers below `2^width`.
pub fn pack(part: &[u64; PART], width: u32, out: &mut Vec<u8>) {
    match width {
        0 => (),
        1..=16 => {
            let pairs: [u64; PART / 2] = paired(part, width);
            pack_fours(&paired(&pairs, 2 * width), width, out);
        }
        17..=32 => chained::<{ PART / 2 }>(&paired(part, width), 2 * width, out),
        _ => chained(part, width, out),
    }
}

/// The same for numbers of 16 bits.
pub fn pack_short(part: &[u16; PART], width: u32, out: &mut Vec<u8>) {
    let pairs: [u32; PART / 2] = paired(part, width);
    pack_fours(&paired(&pairs, 2 * width), width, out);
}

/// The same for numbers of at most 16 bits, four in a word.
fn pack_fours(words: &[u64; PART / 4], width: u32, out: &mut Vec<u8>) {
    match width {
        0..=8 => chained::<{ PART / 8 }>(&paired(words, 4 * width), 8 * width, out),
        _ => chained(words, 4 * width, out),
    }
}

#[inline]
fn chained<const N: usize>(words: &[u64; N], width: u32, out: &mut Vec<u8>) {
    let end = out.len() + N * width as usize / 8;
    let (mut chain, mut filled) = (0, 0);
    for word in words {
        chain |= word << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend(chain.to_le_bytes());
            filled -= u64::BITS;
            chain = word.unbounded_shr(width - filled);
        }
    }
    out.extend(chain.to_le_bytes());
    out.truncate(end);
}
