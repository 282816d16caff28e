//! Hold the part of a source of bytes that has been read and not yet consumed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// What bytes come from.
pub trait Source {
    /// Bytes per read.
    const STEP: usize = 1 << 19;

    /// Append about `room` bytes; false at the end.
    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool>;
}

/// Bytes of a source from a place on; as many as needed.
pub struct Window<S> {
    pub source: S,
    data: Vec<u8>,
    at: usize,
    /// The number of bytes before `data`.
    base: u64,
    ended: bool,
}

impl<S: Source> Window<S> {
    pub fn new(source: S) -> Window<S> {
        Window { source, data: Vec::new(), at: 0, base: 0, ended: false }
    }

    /// The bytes that were read and not consumed yet.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    /// Consume bytes, at most the rest.
    #[inline]
    pub fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.data.len());
    }

    /// The bytes consumed last; valid until more are needed.
    pub fn passed(&self, bytes: usize) -> &[u8] {
        let from = self.at.saturating_sub(bytes);
        self.data.get(from..self.at).unwrap_or_default()
    }

    /// The number of consumed bytes.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Whether `rest` is all there is.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Read until the rest has a number of bytes; false if there are no more.
    #[inline]
    pub fn need(&mut self, bytes: usize) -> io::Result<bool> {
        if self.data.len() - self.at >= bytes { Ok(true) } else { self.fill(bytes) }
    }

    #[cold]
    fn fill(&mut self, bytes: usize) -> io::Result<bool> {
        self.base += self.at as u64;
        self.data.drain(..self.at);
        self.at = 0;
        while self.data.len() < bytes && !self.ended {
            self.ended = !self.source.more(&mut self.data, S::STEP)?;
        }
        Ok(self.data.len() >= bytes)
    }
}

/// Read `count` bytes of a file from a place on into `out`, fewer at the end of the file.
///
/// # Errors
/// The file cannot be read.
pub fn read_part(file: &mut File, at: u64, count: u64, out: &mut Vec<u8>) -> io::Result<()> {
    out.clear();
    file.seek(SeekFrom::Start(at))?;
    file.take(count).read_to_end(out).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives three bytes at a time.
    struct Few(&'static [u8]);

    impl Source for Few {
        fn more(&mut self, out: &mut Vec<u8>, _: usize) -> io::Result<bool> {
            let (head, rest) = self.0.split_at(3.min(self.0.len()));
            out.extend_from_slice(head);
            self.0 = rest;
            Ok(!head.is_empty())
        }
    }

    #[test]
    fn what_is_needed_is_read_and_what_was_consumed_is_dropped() {
        let mut window = Window::new(Few(b"abcdefgh"));
        assert!(window.need(2).unwrap());
        window.pass(2);
        assert_eq!((window.rest(), window.passed(2), window.offset()), (&b"c"[..], &b"ab"[..], 2));
        assert!(window.need(4).unwrap());
        assert_eq!((window.rest(), window.passed(1), window.offset()), (&b"cdef"[..], &b""[..], 2));
        assert!(!window.need(7).unwrap());
        window.pass(100);
        assert_eq!(
            (window.rest(), window.passed(3), window.offset(), window.ended()),
            (&b""[..], &b"fgh"[..], 8, true)
        );
    }
}
