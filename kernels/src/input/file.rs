//! A file's bytes -> its text, inflated if it is gzip, from the beginning or from a seek point on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zlib_rs::{Inflate, InflateFlush, Status};

use super::resume::{find_bits, resume};
use super::{Checkpoint, Damage};

/// Bytes read from a file at a time.
const PIECE: usize = 1 << 18;
/// Bytes of text inflated to find the bit at which a block begins.
const PROOF: usize = 1 << 15;
/// A gzip member ends with its checksum and size.
const TRAILER: u8 = 8;

/// The result of a step of an [`Input`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// There is text, or more to do before there is.
    More,
    /// A gzip member begins.
    Member,
    /// A block of deflate ends.
    BlockEnd,
    /// There is no more text.
    End,
}

/// A place inside of a gzip member where inflating can begin.
pub struct Point {
    pub offset: u64,
    pub bits: u8,
}

enum State {
    Plain,
    /// A member may begin here; the flag is whether one was read before.
    Between(bool),
    Member,
    /// Inside of a member without its beginning.
    Raw,
    /// Bytes of the trailer still to be skipped.
    Trailer(u8),
    Ended,
}

/// The text of a file.
pub struct Input {
    file: Take<File>,
    /// Bytes read so far, for the progress bar.
    done: Arc<AtomicU64>,
    piece: Vec<u8>,
    at: usize,
    /// The place of `piece` in the file, and the byte before it.
    base: u64,
    before: u8,
    eof: bool,
    state: State,
    inflate: Option<Inflate>,
    pub damage: Option<Damage>,
}

impl Input {
    /// Begin at the beginning of a file.
    pub fn open(path: &Path, done: Arc<AtomicU64>) -> io::Result<Input> {
        let mut input = Input::new(File::open(path)?, u64::MAX, done);
        input.fill()?;
        // A lone first byte of the magic number is a gzip file cut off there, not text.
        if input.piece.starts_with(b"\x1f\x8b") || input.piece == b"\x1f" {
            input.state = State::Between(false);
        }
        Ok(input)
    }

    /// Begin at the start of a chunk; None if its values are invalid.
    pub fn at(path: &Path, place: &Checkpoint, done: Arc<AtomicU64>) -> io::Result<Option<Input>> {
        let before = u64::from(place.bits > 0);
        let Some(start) = place.c_offset.checked_sub(before) else {
            return Ok(None);
        };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut input = Input::new(file, place.c_size.saturating_add(before), done);
        input.base = start;
        input.fill()?;
        if place.bits > 0 {
            input.before = input.piece.first().copied().unwrap_or_default();
            input.at = 1.min(input.piece.len());
        }
        if !place.packed {
            return Ok(Some(input));
        }
        input.state = State::Between(false);
        if let Some(window) = &place.window {
            let mut inflate = Inflate::new(false, 15);
            if place.bits > 7 || !resume(&mut inflate, place.bits, input.before, window) {
                return Ok(None);
            }
            input.inflate = Some(inflate);
            input.state = State::Raw;
        }
        Ok(Some(input))
    }

    fn new(file: File, limit: u64, done: Arc<AtomicU64>) -> Input {
        Input {
            file: file.take(limit),
            done,
            piece: Vec::new(),
            at: 0,
            base: 0,
            before: 0,
            eof: false,
            state: State::Plain,
            inflate: None,
            damage: None,
        }
    }

    /// Whether the file is gzip.
    pub fn packed(&self) -> bool {
        !matches!(self.state, State::Plain)
    }

    /// Whether the next text comes from inside of a gzip member.
    pub fn inside(&self) -> bool {
        matches!(self.state, State::Member | State::Raw)
    }

    /// The place in the file of the first unused byte.
    pub fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Read from the file until there is a whole piece, or the file ends.
    fn fill(&mut self) -> io::Result<()> {
        if let Some(before) = self.at.checked_sub(1) {
            self.before = self.piece.get(before).copied().unwrap_or_default();
        }
        self.base += self.at as u64;
        self.piece.drain(..self.at.min(self.piece.len()));
        self.at = 0;
        let room = (PIECE - self.piece.len().min(PIECE)) as u64;
        let read = self.file.by_ref().take(room).read_to_end(&mut self.piece)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        self.eof = (read as u64) < room;
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.piece.get(self.at..).unwrap_or_default()
    }

    /// Append at most `room` bytes of text; with `stop` also stop at the ends of deflate blocks.
    pub fn read(&mut self, out: &mut Vec<u8>, room: usize, stop: bool) -> io::Result<Step> {
        if self.at >= self.piece.len() && !self.eof {
            self.fill()?;
        }
        match self.state {
            State::Ended => Ok(Step::End),
            State::Plain => {
                let rest = self.rest();
                let given = rest.len().min(room);
                out.extend_from_slice(&rest[..given]);
                self.at += given;
                let ended = given == 0 && room > 0;
                Ok(if ended { Step::End } else { Step::More })
            }
            State::Between(behind) => self.start_member(behind),
            State::Trailer(left) => {
                let passed = self.rest().len().min(usize::from(left));
                self.at += passed;
                self.state = match left - passed as u8 {
                    0 => State::Between(true),
                    left if !self.eof => State::Trailer(left),
                    _ => State::Ended,
                };
                Ok(Step::More)
            }
            State::Member | State::Raw => Ok(self.inflate(out, room, stop)),
        }
    }

    fn end(&mut self, damage: Option<Damage>) -> Step {
        self.damage = damage;
        self.state = State::Ended;
        Step::End
    }

    fn start_member(&mut self, behind: bool) -> io::Result<Step> {
        if behind {
            // Padding with zero bytes is usual after the last member.
            while !self.eof && self.rest().iter().all(|byte| *byte == 0) {
                self.at = self.piece.len();
                self.fill()?;
            }
            match self.rest().first() {
                Some(0x1f) => (),
                None => return Ok(self.end(None)),
                Some(0) if self.rest().iter().all(|byte| *byte == 0) => return Ok(self.end(None)),
                Some(_) => return Ok(self.end(Some(Damage::Trailing))),
            }
        }
        self.inflate = Some(Inflate::new(true, 31));
        self.state = State::Member;
        Ok(Step::Member)
    }

    fn inflate(&mut self, out: &mut Vec<u8>, room: usize, stop: bool) -> Step {
        let Some(inflate) = &mut self.inflate else {
            return self.end(None);
        };
        let start = out.len();
        out.resize(start + room, 0);
        let (had_in, had_out) = (inflate.total_in(), inflate.total_out());
        let input = self.piece.get(self.at..).unwrap_or_default();
        let (given, flush) = match stop {
            true => (input.len(), InflateFlush::Block),
            false => (input.len(), InflateFlush::NoFlush),
        };
        let status = inflate.decompress(input, &mut out[start..], flush);
        let read = (inflate.total_in() - had_in) as usize;
        let written = (inflate.total_out() - had_out) as usize;
        out.truncate(start + written.min(room));
        self.at += read;
        match status {
            Ok(Status::StreamEnd) => {
                self.state = match self.state {
                    State::Raw => State::Trailer(TRAILER),
                    _ => State::Between(true),
                };
                Step::More
            }
            Ok(_) if read == 0 && written == 0 && self.eof => self.end(Some(Damage::Truncated)),
            Ok(_) if stop && written < room && read < given => Step::BlockEnd,
            Ok(_) => Step::More,
            Err(_) => self.end(Some(Damage::Corrupt)),
        }
    }

    /// After [`Step::BlockEnd`]: the seek point there, if it can be determined, and more text.
    ///
    /// `window` is the text before, as far as it belongs to the member and deflate may refer to it.
    pub fn point(&mut self, out: &mut Vec<u8>, window: &[u8]) -> io::Result<Option<Point>> {
        self.fill()?;
        let offset = self.position();
        let start = out.len();
        self.inflate(out, PROOF, false);
        let text = out.get(start..).unwrap_or_default();
        let bits = find_bits(self.before, &self.piece, window, text);
        Ok(bits.map(|bits| Point { offset, bits }))
    }
}
