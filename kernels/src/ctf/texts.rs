//! Decode the bytes of strings, in the encodings that layouts use, into UTF-8.

use super::layout::Encoding;
use super::walk::write_number;
use crate::input::bytes::{u16_of, u32_of, until_zero};

/// Bytes of a unit.
pub fn width(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Bytes => 1,
        Encoding::Utf16(_) => 2,
        Encoding::Utf32(_) => 4,
    }
}

/// Text of wide units up to a null; invalid characters are replaced.
pub fn wide(raw: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Bytes => String::from_utf8_lossy(until_zero(raw)).into_owned(),
        Encoding::Utf16(little) => {
            let (units, _) = raw.as_chunks::<2>();
            let units = units.iter().map(|unit| u16_of(*unit, !little));
            char::decode_utf16(units.take_while(|unit| *unit != 0))
                .map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        Encoding::Utf32(little) => {
            let (units, _) = raw.as_chunks::<4>();
            let units = units.iter().map(|unit| u32_of(*unit, !little));
            units
                .take_while(|unit| *unit != 0)
                .map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
    }
}

/// Two digits for each byte.
pub fn hex(raw: &[u8], text: &mut Vec<u8>) {
    for byte in raw {
        write_number(text, format_args!("{byte:02x}"));
    }
}
