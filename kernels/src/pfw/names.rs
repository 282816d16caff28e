//! Convert the keys of args, which may be any bytes, into unique names of decoded columns, and back.

/// Prefix of the names of columns added to decoded ones.
const OWN: &str = "dctv:";
/// Prefix of the names of keys that are not valid as names.
const PREFIX: &str = "dctv:key:";
/// Follows the prefix if a key cannot be a name, before its bytes in hexadecimal.
const BYTES: &str = "0x";
/// The number of a row's line in its chunk.
pub const LINE: &str = "dctv:line";
/// The number of a row's file.
pub const FILE: &str = "dctv:file";

/// The name of the decoded column of a key, in a table that begins with `fixed` columns.
pub fn decoded_name(fixed: &[&str], key: &[u8]) -> String {
    match as_name(key) {
        Some(text) if text.is_empty() || fixed.contains(&text) || text.starts_with(OWN) => {
            format!("{PREFIX}{text}")
        }
        Some(text) => text.to_owned(),
        None => {
            let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{PREFIX}{BYTES}{digits}")
        }
    }
}

/// The key of a decoded column.
pub fn raw_key(name: &str) -> Vec<u8> {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return name.as_bytes().to_vec();
    };
    rest.strip_prefix(BYTES)
        .and_then(from_digits)
        .filter(|bytes| as_name(bytes).is_none())
        .unwrap_or_else(|| rest.as_bytes().to_vec())
}

/// A key as the name of an Arrow column: these are UTF-8, and end at the first zero.
fn as_name(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key).ok().filter(|text| !text.contains('\0'))
}

fn from_digits(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
