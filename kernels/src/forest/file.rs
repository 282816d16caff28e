//! Forests in files: their memory layout, after a header that describes it.
//!
//! All numbers are little-endian. The header is 64 bytes: the magic, version, kind, states, leaves, bytes of text,
//! CRC-32 of all bytes after the header, CRC-32 of the header before it. Then come the nodes as words, then the text.

use std::io::{self, Write};

use arrow_buffer::Buffer;
use zlib_rs::crc32::crc32;

use super::kind::Kind;
use super::nodes::{Mapped, Nodes};

const MAGIC: &[u8; 8] = b"dctvfor\0";
const VERSION: u32 = 1;
const HEADER: usize = 64;
/// Nodes that are converted to the file format at once.
const AT_ONCE: usize = 4096;

/// The contents of a file.
pub struct Opened {
    pub kind: Kind,
    pub leaves: usize,
    pub nodes: Mapped,
    pub text: String,
}

fn write_nodes<N: Nodes>(
    nodes: &N,
    count: usize,
    width: usize,
    out: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    for first in (0..count).step_by(AT_ONCE) {
        bytes.clear();
        for node in first..count.min(first + AT_ONCE) {
            bytes.extend(nodes.words(node, width).iter().flat_map(|word| word.to_le_bytes()));
        }
        out(&bytes)?;
    }
    Ok(())
}

/// Write a forest; it is read twice, since the checksum of everything comes first.
pub fn write<N: Nodes>(kind: Kind, nodes: &N, leaves: usize, text: &str, out: &mut impl Write) -> io::Result<()> {
    let width = kind.monoid().width();
    let mut sum = 0;
    write_nodes(nodes, 2 * leaves, width, &mut |bytes| {
        sum = crc32(sum, bytes);
        Ok(())
    })?;
    sum = crc32(sum, text.as_bytes());
    let mut header = [0; HEADER];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, MAGIC);
    put(8, &VERSION.to_le_bytes());
    put(12, &kind.number().to_le_bytes());
    put(16, &(kind.states() as u64).to_le_bytes());
    put(24, &(leaves as u64).to_le_bytes());
    put(32, &(text.len() as u64).to_le_bytes());
    put(56, &sum.to_le_bytes());
    let own = crc32(0, &header[..HEADER - 4]);
    header[HEADER - 4..].copy_from_slice(&own.to_le_bytes());
    out.write_all(&header)?;
    write_nodes(nodes, 2 * leaves, width, &mut |bytes| out.write_all(bytes))?;
    out.write_all(text.as_bytes())
}

/// Open the bytes of a file; errors are messages.
pub fn open(bytes: &Buffer) -> Result<Opened, String> {
    let header = bytes.get(..HEADER).filter(|header| header.starts_with(MAGIC));
    let header = header.ok_or("it does not begin as one")?;
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    if crc32(0, &header[..HEADER - 4]) != word(HEADER - 4) {
        return Err("its header is damaged".to_owned());
    }
    if word(8) != VERSION {
        return Err(format!("it is of version {}, expected {VERSION}", word(8)));
    }
    let states = usize::try_from(long(16)).map_err(|error| error.to_string())?;
    let kind = Kind::numbered(word(12), states).ok_or("it is of an unknown kind")?;
    let width = kind.monoid().width() as u64;
    let nodes = long(24).checked_mul(2 * 8 * width);
    let end = nodes.and_then(|nodes| nodes.checked_add(HEADER as u64));
    let whole = end.and_then(|end| end.checked_add(long(32)));
    if whole != Some(bytes.len() as u64) {
        return Err(format!("it has {} bytes, which are not those that its header tells of", bytes.len()));
    }
    if crc32(0, &bytes[HEADER..]) != word(56) {
        return Err("it is damaged".to_owned());
    }
    // At most the size of the file.
    let end = end.unwrap_or_default() as usize;
    let text = std::str::from_utf8(&bytes[end..]).map_err(|error| error.to_string())?;
    let words = bytes.slice_with_length(HEADER, end - HEADER);
    Ok(Opened { kind, leaves: long(24) as usize, nodes: Mapped::new(words), text: text.to_owned() })
}
