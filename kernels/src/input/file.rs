//! Read the text of a file or a compressed stream, inflated if it is packed, from the beginning or from a seek point.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zlib_rs::{Inflate, InflateFlush, Status};

use super::resume::{find_bits, resume};
use super::unpack::inflate;
use super::window::{Source, Window};
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
    /// A zlib stream; what follows it does not matter.
    Zlib,
    /// Bytes of the trailer still to be skipped.
    Trailer(u8),
    Ended,
}

/// The text of a file.
pub struct Input {
    file: Take<Box<dyn Read + Send + Sync>>,
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
        let mut input = Input::new(Box::new(File::open(path)?), u64::MAX, done);
        input.fill()?;
        // A lone first byte of the magic number is a gzip file cut off there, not text.
        if input.piece.starts_with(b"\x1f\x8b") || input.piece == b"\x1f" {
            input.state = State::Between(false);
        }
        Ok(input)
    }

    /// Take a text that does not come from a file, and may end with [`Damage`].
    pub fn of_text(text: impl Read + Send + Sync + 'static) -> Input {
        Input::new(Box::new(text), u64::MAX, Arc::default())
    }

    /// Begin at the beginning of a gzip or zlib stream.
    pub fn of_stream(packed: impl Read + Send + Sync + 'static) -> io::Result<Input> {
        let mut input = Input::new(Box::new(packed), u64::MAX, Arc::default());
        input.fill()?;
        input.state = State::Between(false);
        if !input.piece.starts_with(b"\x1f\x8b") {
            input.state = State::Zlib;
            input.inflate = Some(Inflate::new(true, 15));
        }
        Ok(input)
    }

    /// Begin at a part of a file; it is one deflate stream without a header if it is packed.
    pub fn part(path: &Path, (offset, size): (u64, u64), packed: bool, done: Arc<AtomicU64>) -> io::Result<Input> {
        let window = packed.then(Vec::new);
        let place = Checkpoint { c_offset: offset, c_size: size, window, packed, ..Checkpoint::default() };
        Input::at(path, &place, done)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Begin at the start of a chunk; None if its values are invalid.
    pub fn at(path: &Path, place: &Checkpoint, done: Arc<AtomicU64>) -> io::Result<Option<Input>> {
        let before = u64::from(place.bits > 0);
        let Some(start) = place.c_offset.checked_sub(before) else {
            return Ok(None);
        };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut input = Input::new(Box::new(file), place.c_size.saturating_add(before), done);
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

    fn new(file: Box<dyn Read + Send + Sync>, limit: u64, done: Arc<AtomicU64>) -> Input {
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
        let had = self.piece.len();
        let outcome = self.file.by_ref().take(room).read_to_end(&mut self.piece);
        let read = (self.piece.len() - had) as u64;
        self.done.fetch_add(read, Ordering::Relaxed);
        match outcome {
            // A stream within a damaged one ends where that does.
            Err(error) if !error.get_ref().is_some_and(|error| error.is::<Damage>()) => return Err(error),
            _ => self.eof = read < room,
        }
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.piece.get(self.at..).unwrap_or_default()
    }

    /// Append at most `room` bytes of text; with `stop` also stop at the ends of deflate blocks.
    pub fn read(&mut self, out: &mut Vec<u8>, room: usize, stop: bool) -> io::Result<Step> {
        if let State::Plain = self.state {
            return self.copy(out, room);
        }
        if self.at >= self.piece.len() && !self.eof {
            self.fill()?;
        }
        match self.state {
            State::Ended | State::Plain => Ok(Step::End),
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
            State::Member | State::Raw | State::Zlib => Ok(self.inflate(out, room, stop)),
        }
    }

    /// Append plain text: that of the piece, then directly from the file.
    fn copy(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<Step> {
        let rest = self.rest();
        let given = rest.len().min(room);
        if given > 0 {
            out.extend_from_slice(&rest[..given]);
            self.at += given;
            return Ok(Step::More);
        }
        let had = out.len();
        let outcome = self.file.by_ref().take(room as u64).read_to_end(out);
        let read = (out.len() - had) as u64;
        self.base += read;
        self.done.fetch_add(read, Ordering::Relaxed);
        match outcome {
            Ok(0) if room > 0 => Ok(Step::End),
            Ok(_) => Ok(Step::More),
            Err(error) => match error.downcast() {
                Ok(damage) => Ok(self.end(Some(damage))),
                Err(error) => Err(error),
            },
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
        let Some(state) = &mut self.inflate else {
            return self.end(None);
        };
        let (start, input) = (out.len(), self.piece.get(self.at..).unwrap_or_default());
        let flush = if stop { InflateFlush::Block } else { InflateFlush::NoFlush };
        let (read, status) = inflate(state, input, out, room, flush);
        let (written, given) = (out.len() - start, input.len());
        self.at += read;
        match status {
            Ok(Status::StreamEnd) => {
                self.state = match self.state {
                    State::Raw => State::Trailer(TRAILER),
                    State::Zlib => State::Ended,
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

impl Source for Input {
    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool> {
        let had = out.len();
        while out.len() == had {
            if self.read(out, room, false)? == Step::End {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The text as a stream; damage is an error at its end.
impl Read for Window<Input> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.need(1)?
            && let Some(damage) = self.source.damage
        {
            return Err(io::Error::other(damage));
        }
        let count = self.rest().read(buffer)?;
        self.pass(count);
        Ok(count)
    }
}
