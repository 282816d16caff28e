//! Resolve kernel addresses to function names, by the text of `/proc/kallsyms`.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::numbers::Numbers;

/// Maximum number of cached addresses.
const KNOWN_LIMIT: usize = 1 << 16;

/// Functions by address, parsed from the text on first use.
#[derive(Default)]
pub struct Symbols {
    text: Vec<u8>,
    /// Address, and the start and end of the name in the text; by address.
    places: OnceLock<Vec<(u64, u32, u32)>>,
}

impl Symbols {
    /// Take the text of `/proc/kallsyms`; invalid lines are skipped.
    pub fn parse(text: Vec<u8>) -> Symbols {
        Symbols { text, places: OnceLock::new() }
    }

    fn places(&self) -> &[(u64, u32, u32)] {
        self.places.get_or_init(|| self.read())
    }

    fn read(&self) -> Vec<(u64, u32, u32)> {
        let text = &self.text;
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            if let Some((address, low, high)) = line(&rest[..end])
                && let (Ok(low), Ok(high)) = (u32::try_from(from + low), u32::try_from(from + high))
            {
                places.push((address, low, high));
            }
            from += end + 1;
        }
        places.sort_by_key(|place| place.0);
        places.dedup_by_key(|place| place.0);
        places
    }

    /// The function that contains an address, the offset, and the function's length; None outside of all.
    pub fn find(&self, address: u64) -> Option<(&[u8], u64, u64)> {
        let places = self.places();
        let after = places.partition_point(|place| place.0 <= address);
        let (start, low, high) = *places.get(after.checked_sub(1)?)?;
        if start == 0 {
            return None;
        }
        let end = places.get(after).map_or(start, |place| place.0);
        let name = self.text.get(low as usize..high as usize)?;
        Some((name, address - start, end - start))
    }

    /// Add the name of the function that contains an address, or the address; `offset` adds the offset to the name.
    pub fn put(&self, address: u64, offset: bool, out: &mut Vec<u8>) {
        match self.find(address) {
            Some((name, distance, size)) => {
                out.extend_from_slice(name);
                if offset {
                    out.extend_from_slice(format!("+0x{distance:x}/0x{size:x}").as_bytes());
                }
            }
            None => {
                out.extend_from_slice(b"0x");
                super::values::digits(out, address);
            }
        }
    }
}

/// `ffffffff81000000 T _stext [module]`: the address, and the place of the name.
fn line(text: &[u8]) -> Option<(u64, usize, usize)> {
    let digits = memchr::memchr(b' ', text)?;
    let address = u64::from_str_radix(str::from_utf8(&text[..digits]).ok()?, 16).ok()?;
    let kind = text.get(digits + 1)?;
    let low = digits + 3;
    let name = text.get(low..)?;
    let length = name.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(name.len());
    // Symbols that only mark the instruction set of the following code are not functions.
    let is_mark = name.starts_with(b"$") || matches!(kind, b'a' | b'A') && address == 0;
    (length > 0 && !is_mark).then_some((address, low, low + length))
}

/// A text and its number.
pub type Numbered = (usize, Box<[u8]>);

/// A cache of names by address.
#[derive(Default)]
pub struct Names {
    known: FxHashMap<(u64, bool), Numbered>,
    pub numbers: Numbers,
}

impl Names {
    /// The name of the function that contains an address, and its number.
    pub fn get(&mut self, symbols: &Symbols, address: u64, offset: bool) -> (usize, &[u8]) {
        if self.known.len() > KNOWN_LIMIT {
            self.known.clear();
        }
        let entry = self.known.entry((address, offset));
        let (number, name) = entry.or_insert_with(|| {
            let mut name = Vec::new();
            symbols.put(address, offset, &mut name);
            (self.numbers.fresh(), name.into_boxed_slice())
        });
        (*number, name)
    }
}
