//! Bytes of texts in the encodings of layouts -> UTF-8.

use super::layout::Encoding;
use super::walk::write_number;

/// Bytes of a unit.
pub fn width(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Bytes => 1,
        Encoding::Utf16(_) => 2,
        Encoding::Utf32(_) => 4,
    }
}

/// The bytes before the first null.
pub fn to_null(raw: &[u8]) -> &[u8] {
    match memchr::memchr(0, raw) {
        Some(place) => raw.get(..place).unwrap_or(raw),
        None => raw,
    }
}

/// Text of wide units up to a null; invalid characters are replaced.
pub fn wide(raw: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Bytes => String::from_utf8_lossy(to_null(raw)).into_owned(),
        Encoding::Utf16(little) => {
            let (units, _) = raw.as_chunks::<2>();
            let units = units.iter().map(|unit| match little {
                true => u16::from_le_bytes(*unit),
                false => u16::from_be_bytes(*unit),
            });
            char::decode_utf16(units.take_while(|unit| *unit != 0))
                .map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        Encoding::Utf32(little) => {
            let (units, _) = raw.as_chunks::<4>();
            let units = units.iter().map(|unit| match little {
                true => u32::from_le_bytes(*unit),
                false => u32::from_be_bytes(*unit),
            });
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
