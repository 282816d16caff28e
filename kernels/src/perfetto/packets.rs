//! Split the bytes of a trace into packets, one by one, in memory for the longest of them.

use std::io;

use memchr::memmem;

use crate::input::{Source, Window};

/// Longer packets are skipped.
pub const MOST_PACKET: usize = 64 << 20;
/// The contents of a packet that the recorder inserts now and then; the next packet begins right after it.
const MARKER: [u8; 16] =
    [0x82, 0x47, 0x7a, 0x76, 0xb2, 0x8d, 0x42, 0xba, 0x81, 0xdc, 0x33, 0x32, 0x6d, 0x57, 0xa0, 0x79];

/// The next part of a trace.
pub enum Found {
    /// A packet of this length: [`Packets::packet`].
    Packet(usize),
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
pub struct Packets<S>(Window<S>);

impl<S: Source> Packets<S> {
    pub fn new(source: S) -> Packets<S> {
        Packets(Window::new(source))
    }

    /// Bytes up to the end of the last result.
    pub fn position(&self) -> u64 {
        self.0.offset()
    }

    pub fn source(&self) -> &S {
        &self.0.source
    }

    /// The last result, a packet of this length.
    pub fn packet(&self, length: usize) -> &[u8] {
        self.0.passed(length)
    }

    pub fn next(&mut self) -> io::Result<Found> {
        self.0.need(11)?;
        match header(self.0.rest()) {
            Header::Packet(head, length) => self.whole(head, length),
            Header::Short if self.0.rest().is_empty() => Ok(Found::End),
            Header::Short => {
                self.0.pass(usize::MAX);
                Ok(Found::Cut)
            }
            Header::Bad => self.resync(),
        }
    }

    fn whole(&mut self, head: usize, length: u64) -> io::Result<Found> {
        let Some(size) = usize::try_from(length).ok().filter(|size| *size <= MOST_PACKET) else {
            return self.pass(head, length);
        };
        let found = self.0.need(head + size)?;
        self.0.pass(if found { head + size } else { usize::MAX });
        Ok(if found { Found::Packet(size) } else { Found::Cut })
    }

    /// Skip a packet that is too long, or has a damaged length.
    fn pass(&mut self, head: usize, length: u64) -> io::Result<Found> {
        let mut left = length.saturating_add(head as u64);
        while left > 0 {
            let here = self.0.rest().len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.0.pass(here);
            left -= here as u64;
            if left > 0 && !self.0.need(1)? {
                return Ok(Found::Cut);
            }
        }
        Ok(Found::Long(length))
    }

    /// Skip damaged bytes, up to the end of the next marker.
    fn resync(&mut self) -> io::Result<Found> {
        let start = self.position();
        loop {
            if let Some(found) = memmem::find(self.0.rest(), &MARKER) {
                self.0.pass(found + MARKER.len());
                return Ok(Found::Skipped(self.position() - start));
            }
            self.0.pass((self.0.rest().len() + 1).saturating_sub(MARKER.len()));
            if !self.0.need(MARKER.len())? {
                self.0.pass(usize::MAX);
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
