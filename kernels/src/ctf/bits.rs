//! Read numbers at any bit offset in part of a packet, in either byte order.

use crate::input::bytes::{u16_of, u32_of, u64_of};

/// Why decoding a field failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It extends beyond the part of the packet that was read.
    Short,
    /// It is damaged; the reason.
    Damaged(&'static str),
}

pub const BEYOND: Stop = Stop::Damaged("a field goes beyond the content of its packet");

/// Bits of a packet, numbered from its beginning.
#[derive(Clone, Copy)]
pub struct Bits<'a> {
    data: &'a [u8],
    /// The place of `data`.
    base: u64,
    pub pos: u64,
    /// The end of the content.
    pub end: u64,
}

impl<'a> Bits<'a> {
    /// `base` and `pos` are within the packet, and `base` is a multiple of 8.
    #[inline]
    pub fn new(data: &'a [u8], base: u64, pos: u64, end: u64) -> Bits<'a> {
        Bits { data, base, pos, end }
    }

    #[inline]
    pub fn left(&self) -> u64 {
        self.end.saturating_sub(self.pos)
    }

    #[inline]
    pub fn align(&mut self, align: u64) {
        self.pos = self.pos.saturating_add(align - 1) & !(align - 1);
    }

    /// The next bytes, aligned to a byte.
    #[inline]
    fn at(&self, bytes: usize) -> Result<&'a [u8], Stop> {
        let from = usize::try_from(self.pos.saturating_sub(self.base) >> 3).unwrap_or(usize::MAX);
        let end = from.saturating_add(bytes);
        self.data.get(from..end).ok_or(Stop::Short)
    }

    /// The next bits as a number, at most 64.
    #[inline(always)]
    pub fn number(&mut self, size: u32, little: bool) -> Result<u64, Stop> {
        let shift = (self.pos & 7) as u32;
        if u64::from(size) > self.left() {
            return Err(BEYOND);
        }
        let value = match (shift, size) {
            (0, 8) => u64::from(self.fixed::<1>()?[0]),
            (0, 16) => u64::from(u16_of(self.fixed()?, !little)),
            (0, 32) => u64::from(u32_of(self.fixed()?, !little)),
            (0, 64) => u64_of(self.fixed()?, !little),
            _ => self.odd(shift, size, little)?,
        };
        self.pos += u64::from(size);
        Ok(value)
    }

    #[inline]
    fn fixed<const N: usize>(&self) -> Result<[u8; N], Stop> {
        self.at(N)?.try_into().map_err(|_| Stop::Short)
    }

    fn odd(&self, shift: u32, size: u32, little: bool) -> Result<u64, Stop> {
        if little
            && shift + size < 64
            && let Ok(bytes) = self.fixed::<8>()
        {
            return Ok(u64::from_le_bytes(bytes) >> shift & ((1 << size) - 1));
        }
        let count = (shift + size).div_ceil(8);
        let bytes = self.at(count as usize)?;
        let all = if little {
            bytes.iter().rev().fold(0u128, |all, byte| all << 8 | u128::from(*byte)) >> shift
        } else {
            bytes.iter().fold(0u128, |all, byte| all << 8 | u128::from(*byte)) >> (count * 8 - shift - size)
        };
        Ok((all & ((1u128 << size) - 1)) as u64)
    }

    /// A number of variable length, with continuation bits, and its number of bits.
    pub fn varying(&mut self, signed: bool) -> Result<(u64, u32), Stop> {
        let (mut value, mut size) = (0u64, 0u32);
        loop {
            let byte = self.number(8, true)?;
            let part = byte & 127;
            if size < 64 {
                value |= part << size;
            }
            // Bits beyond the 64th may only continue the number: they are like its sign.
            let sign = if signed && value >> 63 == 1 { 127 } else { 0 };
            let beyond = 64u32.saturating_sub(size).min(7);
            if part >> beyond != sign >> beyond {
                return Err(Stop::Damaged("a number has more than 64 bits"));
            }
            size = size.saturating_add(7);
            if byte & 128 == 0 {
                break;
            }
        }
        if signed && size < 64 {
            value = sign_extended(value, size);
        }
        Ok((value, size.min(64)))
    }

    /// A number of bytes, aligned to a byte.
    pub fn bytes(&mut self, count: u64) -> Result<&'a [u8], Stop> {
        self.align(8);
        if count > self.left() / 8 {
            return Err(BEYOND);
        }
        let found = self.at(usize::try_from(count).map_err(|_| BEYOND)?)?;
        self.pos += count * 8;
        Ok(found)
    }

    /// Bytes up to a null of `width` bytes, which is skipped.
    pub fn until_null(&mut self, width: usize) -> Result<&'a [u8], Stop> {
        self.align(8);
        let from = usize::try_from(self.pos.saturating_sub(self.base) >> 3).unwrap_or(usize::MAX);
        let left = usize::try_from(self.left() / 8).unwrap_or(usize::MAX);
        let here = self.data.get(from..).unwrap_or_default();
        let part = here.get(..left).unwrap_or(here);
        let found = match width {
            1 => memchr::memchr(0, part),
            _ => {
                let mut units = part.chunks_exact(width);
                let place = units.position(|unit| unit.iter().all(|byte| *byte == 0));
                place.map(|place| place * width)
            }
        };
        match found {
            Some(length) => {
                self.pos += (length as u64 + width as u64) * 8;
                Ok(&part[..length])
            }
            None if here.len() >= left => Err(Stop::Damaged("a text has no end")),
            None => Err(Stop::Short),
        }
    }
}

/// Sign-extends a number of `size` bits.
#[inline]
pub fn sign_extended(value: u64, size: u32) -> u64 {
    let shift = 64 - size.clamp(1, 64);
    ((value << shift).cast_signed() >> shift).cast_unsigned()
}

/// The number with its `size` bits in the opposite order.
pub fn reversed(value: u64, size: u32) -> u64 {
    value.reverse_bits() >> (64 - size.clamp(1, 64))
}
