//! Pack numbers of few bits one after the other, as Parquet does.

use std::ops::{BitOr, Shl};

/// Numbers that are packed at once: at any width they fill whole bytes.
pub const PART: usize = 32;

/// Combine each pair of neighbours into one number.
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

/// Append numbers below `2^width`.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, the lowest one first.
    fn one_by_one(numbers: impl Iterator<Item = u64>, width: u32) -> Vec<u8> {
        let bits: Vec<u64> = numbers.flat_map(|number| (0..width).map(move |bit| number >> bit & 1)).collect();
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, bit| all << 1 | *bit as u8)).collect()
    }

    fn mixed(number: usize, width: u32) -> u64 {
        let number = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        number.unbounded_shr(u64::BITS - width)
    }

    #[test]
    fn numbers_of_every_width_are_packed_bit_by_bit() {
        for width in 0..=64 {
            for part in [std::array::from_fn(|at| mixed(at, width)), [u64::MAX.unbounded_shr(64 - width); PART]] {
                let mut out = vec![7];
                pack(&part, width, &mut out);
                assert_eq!(out[1..], one_by_one(part.into_iter(), width), "{width}");
            }
        }
    }

    #[test]
    fn short_numbers_are_packed_as_others_are() {
        for width in 1..=16 {
            let part: [u16; PART] = std::array::from_fn(|at| mixed(at, width) as u16);
            let mut out = Vec::new();
            pack_short(&part, width, &mut out);
            assert_eq!(out, one_by_one(part.into_iter().map(u64::from), width), "{width}");
        }
    }
}
