//! Bytes of a trace -> its packets, one by one, in memory for the longest of them.

use std::io;
use std::ops::Range;

use memchr::memmem;

/// Longer packets are skipped.
pub const MOST_PACKET: usize = 64 << 20;
/// Bytes per read.
const STEP: usize = 1 << 19;
/// The contents of a packet that the recorder inserts now and then; the next packet begins right after it.
const MARKER: [u8; 16] =
    [0x82, 0x47, 0x7a, 0x76, 0xb2, 0x8d, 0x42, 0xba, 0x81, 0xdc, 0x33, 0x32, 0x6d, 0x57, 0xa0, 0x79];

/// A source of bytes.
pub trait Bytes {
    /// Append about `room` bytes; false at the end.
    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool>;
}

/// The next part of a trace.
pub enum Found {
    /// A packet: bytes of [`Packets::bytes`].
    Packet(Range<usize>),
    /// A packet of this length was skipped as too long.
    Long(u64),
    /// This number of bytes outside of packets was skipped.
    Skipped(u64),
    /// The last packet lacks its end.
    Cut,
    End,
}

enum Header {
    /// The offset of its contents, and their length.
    Packet(usize, u64),
    Short,
    Bad,
}

/// A trace as packets.
pub struct Packets<S> {
    source: S,
    data: Vec<u8>,
    at: usize,
    /// The place of `data` in the trace.
    base: u64,
    ended: bool,
}

impl<S: Bytes> Packets<S> {
    pub fn new(source: S) -> Packets<S> {
        Packets { source, data: Vec::new(), at: 0, base: 0, ended: false }
    }

    /// Bytes up to the end of the last result.
    pub fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    pub fn source(&self) -> &S {
        &self.source
    }

    pub fn bytes(&self, place: Range<usize>) -> &[u8] {
        self.data.get(place).unwrap_or_default()
    }

    /// Read until a number of bytes is available; false if there are no more.
    fn need(&mut self, bytes: usize) -> io::Result<bool> {
        while self.data.len() - self.at < bytes {
            if self.ended {
                return Ok(false);
            }
            self.data.drain(..self.at);
            self.base += self.at as u64;
            self.at = 0;
            self.ended = !self.source.more(&mut self.data, STEP)?;
        }
        Ok(true)
    }

    fn rest(&self) -> &[u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    pub fn next(&mut self) -> io::Result<Found> {
        self.need(11)?;
        match header(self.rest()) {
            Header::Packet(head, length) => self.packet(head, length),
            Header::Short if self.rest().is_empty() => Ok(Found::End),
            Header::Short => {
                self.at = self.data.len();
                Ok(Found::Cut)
            }
            Header::Bad => self.resync(),
        }
    }

    fn packet(&mut self, head: usize, length: u64) -> io::Result<Found> {
        let Some(size) = usize::try_from(length).ok().filter(|size| *size <= MOST_PACKET) else {
            return self.pass(head, length);
        };
        if !self.need(head + size)? {
            self.at = self.data.len();
            return Ok(Found::Cut);
        }
        let begin = self.at + head;
        self.at = begin + size;
        Ok(Found::Packet(begin..self.at))
    }

    /// Skip a packet that is too long, or has a damaged length.
    fn pass(&mut self, head: usize, length: u64) -> io::Result<Found> {
        let mut left = length.saturating_add(head as u64);
        while left > 0 {
            let here = self.rest().len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.at += here;
            left -= here as u64;
            if left > 0 && !self.need(1)? {
                return Ok(Found::Cut);
            }
        }
        Ok(Found::Long(length))
    }

    /// Skip damaged bytes, up to the end of the next marker.
    fn resync(&mut self) -> io::Result<Found> {
        let start = self.position();
        loop {
            if let Some(found) = memmem::find(self.rest(), &MARKER) {
                self.at += found + MARKER.len();
                return Ok(Found::Skipped(self.position() - start));
            }
            self.at = self.at.max((self.data.len() + 1).saturating_sub(MARKER.len()));
            if !self.need(MARKER.len())? {
                self.at = self.data.len();
                return Ok(Found::Skipped(self.position() - start));
            }
        }
    }
}

/// A trace is a message with the packets in field 1.
fn header(bytes: &[u8]) -> Header {
    match bytes.first() {
        None => return Header::Short,
        Some(0x0a) => (),
        Some(_) => return Header::Bad,
    }
    let mut length = 0u64;
    for place in 0..10 {
        let Some(byte) = bytes.get(place + 1) else {
            return Header::Short;
        };
        length |= u64::from(byte & 0x7f).checked_shl(7 * place as u32).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Header::Packet(place + 2, length);
        }
    }
    Header::Bad
}
