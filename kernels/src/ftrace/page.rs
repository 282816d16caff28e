//! Extract the ftrace text from the HTML pages of trace viewers, which have traces in their scripts.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::NO_PAD;
use memchr::{memchr, memchr2, memmem};

/// A trace found in a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    Text(Vec<u8>),
    /// A zlib or gzip stream.
    Packed(Vec<u8>),
    /// Marked as a trace, but not ftrace text (JSON, battery logs).
    Foreign,
    /// Packed as invalid base64.
    Damaged,
    /// The page ends within a script.
    Cut,
}

/// Find the traces of a page, in order.
pub fn parts(page: &[u8]) -> Vec<Part> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memmem::find(&page[at..], b"<script").map(|i| i + at) {
        let Some(open) = memchr(b'>', &page[start..]).map(|i| i + start + 1) else {
            break;
        };
        let closed = memmem::find(&page[open..], b"</script").map(|i| i + open);
        let end = closed.unwrap_or(page.len());
        let (tag, inside) = (&page[start..open], &page[open..end]);
        if memmem::find(tag, b"trace-data").is_some() || memmem::find(tag, b"viewer-data").is_some() {
            found.push(data_part(inside));
        } else {
            found.extend(string_part(inside));
        }
        if closed.is_none() {
            found.push(Part::Cut);
        }
        at = end;
    }
    found
}

fn data_part(inside: &[u8]) -> Part {
    let start = inside.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(inside.len());
    let trimmed = &inside[start..];
    if trimmed.is_empty() || trimmed[0] == b'{' || trimmed.starts_with(b"[{") {
        return Part::Foreign;
    }
    if is_packed(trimmed) {
        return Part::Packed(trimmed.to_vec());
    }
    if ["H4sI", "eJ", "eN", "eA", "eF"].iter().any(|magic| trimmed.starts_with(magic.as_bytes()))
        && trimmed
            .iter()
            .take(256)
            .all(|&b| b.is_ascii_whitespace() || b.is_ascii_alphanumeric() || b"+/=".contains(&b))
    {
        return base64(trimmed).map_or(Part::Damaged, Part::Packed);
    }
    // The newline after the tag is markup; blanks before the first task are text.
    let line = inside.strip_prefix(b"\r\n").or(inside.strip_prefix(b"\n")).unwrap_or(inside);
    Part::Text(line.to_vec())
}

/// `var linuxPerfData = "..."`, written out or packed.
fn string_part(inside: &[u8]) -> Option<Part> {
    const NAME: &[u8] = b"linuxPerfData";
    for at in memmem::find_iter(inside, NAME) {
        let rest = inside[at + NAME.len()..].trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"=").map(<[u8]>::trim_ascii_start) else {
            continue;
        };
        if let Some(string) = rest.strip_prefix(b"\"") {
            let text = unescape(string);
            return Some(if is_packed(&text) { Part::Packed(text) } else { data_part(&text) });
        }
    }
    None
}

/// Whether bytes begin like a gzip or zlib stream.
pub fn is_packed(bytes: &[u8]) -> bool {
    match bytes {
        [0x1f, 0x8b, ..] => true,
        [0x78, flags, ..] => {
            !flags.is_ascii_graphic() && (0x7800 + u32::from(*flags)) % 31 == 0 || is_default_zlib(bytes)
        }
        _ => false,
    }
}

/// `x^` is the beginning of zlib at level 5; in text, more text follows.
fn is_default_zlib(bytes: &[u8]) -> bool {
    bytes.starts_with(b"x^") && bytes.iter().take(64).any(|b| !b.is_ascii_graphic() && !b.is_ascii_whitespace())
}

/// The text of a JavaScript string, from after its quote to its end; a missing end is not an error.
pub fn unescape(string: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(string.len());
    let mut rest = string;
    while let Some(at) = memchr2(b'\\', b'"', rest) {
        text.extend_from_slice(&rest[..at]);
        if rest[at] == b'"' {
            if ends_string(&rest[at + 1..]) {
                return text;
            }
            text.push(b'"');
            rest = &rest[at + 1..];
        } else {
            rest = escape(&rest[at + 1..], &mut text);
        }
    }
    text.extend_from_slice(rest);
    text
}

/// Old pages contain lines with bare quotes, so only a quote that ends the statement ends the string.
fn ends_string(after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    after.is_empty() || matches!(after[0], b';' | b'<' | b',' | b')')
}

fn escape<'a>(rest: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let Some((&kind, after)) = rest.split_first() else {
        return rest;
    };
    match kind {
        b'n' => text.push(b'\n'),
        b't' => text.push(b'\t'),
        b'r' => text.push(b'\r'),
        b'\n' => {}
        b'\r' => return after.strip_prefix(b"\n").unwrap_or(after),
        b'x' | b'u' => {
            let digits = if kind == b'x' { 2 } else { 4 };
            let code = after.get(..digits).and_then(|hex| str::from_utf8(hex).ok());
            let Some(code) = code.and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
                text.extend_from_slice(&[b'\\', kind]);
                return after;
            };
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            // A packed stream is written byte by byte; text escapes only non-ASCII characters as \u.
            if digits == 2 {
                text.push(code as u8);
            } else {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            return &after[digits..];
        }
        other => text.push(other),
    }
    after
}

/// Decode a text that may be cut anywhere; None if it is not base64.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    const CUT: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    let bytes = text.iter().copied().filter(|b| !b.is_ascii_whitespace());
    let mut digits: Vec<u8> = bytes.take_while(|b| *b != b'=').collect();
    if digits.len() % 4 == 1 {
        // The last digit holds only six bits of a byte.
        digits.pop();
    }
    CUT.decode(digits).ok()
}
