//! One file, plain or gzip with any number of members, into blocks of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pass::Checkpoint;
use flate2::{Decompress, FlushDecompress, Status};

/// Bytes read from a file at a time.
const PIECE: usize = 1 << 18;
/// Bytes inflated at a time: what is lost at most where a stream is damaged.
const STEP: usize = 1 << 16;

/// Why a file could not be read to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The gzip stream ends early.
    Truncated,
    /// The gzip stream is damaged.
    Corrupt,
    /// Something that is not gzip follows a gzip member.
    Trailing,
}

/// The text of a file, inflated where it is gzip.
struct Input {
    file: File,
    /// Bytes read so far of all files, for the progress bar.
    done: Arc<AtomicU64>,
    piece: Vec<u8>,
    at: usize,
    inflate: Option<Decompress>,
    gzip: bool,
    /// Whether some member of the gzip file was read whole.
    between: bool,
    eof: bool,
    damage: Option<Damage>,
}

impl Input {
    fn open(path: &Path, done: Arc<AtomicU64>) -> io::Result<Input> {
        let mut input = Input {
            file: File::open(path)?,
            done,
            piece: Vec::new(),
            at: 0,
            inflate: None,
            gzip: false,
            between: false,
            eof: false,
            damage: None,
        };
        input.refill()?;
        // A lone first byte of the magic number is a gzip file cut off there, not text.
        input.gzip = input.piece.starts_with(b"\x1f\x8b") || input.piece == b"\x1f";
        Ok(input)
    }

    fn refill(&mut self) -> io::Result<()> {
        self.piece.clear();
        self.at = 0;
        let read = self
            .file
            .by_ref()
            .take(PIECE as u64)
            .read_to_end(&mut self.piece)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        self.eof = read == 0;
        Ok(())
    }

    /// Append at most about `STEP` bytes of text; false at the end.
    fn read(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        if self.damage.is_some() {
            return Ok(false);
        }
        if !self.gzip {
            return self.read_plain(out);
        }
        if self.at >= self.piece.len() && !self.eof {
            self.refill()?;
        }
        if self.inflate.is_none() && !self.start_member()? {
            return Ok(false);
        }
        self.inflate_step(out);
        Ok(self.damage.is_none())
    }

    fn read_plain(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        if self.at < self.piece.len() {
            out.extend_from_slice(&self.piece[self.at..]);
            self.at = self.piece.len();
            return Ok(true);
        }
        let read = self.file.by_ref().take(PIECE as u64).read_to_end(out)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read > 0)
    }

    /// Whether another member begins here.
    fn start_member(&mut self) -> io::Result<bool> {
        if self.between {
            // Padding with zero bytes is usual after the last member.
            while !self.eof
                && self
                    .piece
                    .get(self.at..)
                    .is_none_or(|rest| rest.iter().all(|b| *b == 0))
            {
                self.refill()?;
            }
            if self.eof {
                return Ok(false);
            }
            if self.piece.get(self.at) != Some(&0x1f) {
                self.damage = Some(Damage::Trailing);
                return Ok(false);
            }
        }
        self.inflate = Some(Decompress::new_gzip(15));
        Ok(true)
    }

    fn inflate_step(&mut self, out: &mut Vec<u8>) {
        let Some(inflate) = &mut self.inflate else {
            return;
        };
        let start = out.len();
        out.resize(start + STEP, 0);
        let (had_in, had_out) = (inflate.total_in(), inflate.total_out());
        let input = self.piece.get(self.at..).unwrap_or_default();
        let status = inflate.decompress(input, &mut out[start..], FlushDecompress::None);
        let read = (inflate.total_in() - had_in) as usize;
        let written = (inflate.total_out() - had_out) as usize;
        out.truncate(start + written.min(STEP));
        self.at += read;
        match status {
            Ok(Status::StreamEnd) => {
                self.inflate = None;
                self.between = true;
            }
            Ok(_) if read == 0 && written == 0 && self.eof => self.damage = Some(Damage::Truncated),
            Ok(_) => (),
            Err(_) => self.damage = Some(Damage::Corrupt),
        }
    }
}

/// What [`Source::block`] found.
pub struct Block {
    /// Whole lines; the last one may lack its line end, at the end of the file.
    pub text: Vec<u8>,
    /// A line longer than the limit stood before `text`: its first bytes; the rest of it was skipped.
    pub skipped: Option<Vec<u8>>,
    /// No more blocks follow.
    pub last: bool,
}

/// How large blocks are, and how long a line may be.
#[derive(Clone, Copy)]
pub struct Limits {
    pub block: usize,
    pub line: usize,
}

/// A file as blocks of whole lines.
pub struct Source {
    input: Input,
    limits: Limits,
    rest: Vec<u8>,
    pub bytes: u64,
    ended: bool,
}

impl Source {
    pub fn open(path: &Path, done: Arc<AtomicU64>, limits: Limits) -> io::Result<Source> {
        Ok(Source {
            input: Input::open(path, done)?,
            limits,
            rest: Vec::new(),
            bytes: 0,
            ended: false,
        })
    }

    pub fn damage(&self) -> Option<Damage> {
        self.input.damage
    }

    /// Whether there is no further block.
    pub fn ended(&self) -> bool {
        self.ended
    }

    pub fn packed(&self) -> bool {
        self.input.gzip
    }

    /// Where the text begins that was not given yet.
    pub fn position(&self) -> u64 {
        self.bytes - self.rest.len() as u64
    }

    /// The next block, in the memory of an old one.
    pub fn block(&mut self, text: Vec<u8>) -> io::Result<Block> {
        let block = self.next_block(text)?;
        self.ended = block.last;
        Ok(block)
    }

    fn next_block(&mut self, mut text: Vec<u8>) -> io::Result<Block> {
        text.clear();
        text.reserve(self.limits.block + 2 * PIECE);
        text.append(&mut self.rest);
        let mut skipped = None;
        let mut seen = 0;
        loop {
            let had = text.len();
            let more = self.input.read(&mut text)?;
            self.bytes += (text.len() - had) as u64;
            if !more {
                return Ok(Block {
                    text,
                    skipped,
                    last: true,
                });
            }
            if text.len() < self.limits.block {
                continue;
            }
            if let Some(end) = memchr::memrchr(b'\n', text.get(seen..).unwrap_or_default()) {
                self.rest = text.split_off(seen + end + 1);
                return Ok(Block {
                    text,
                    skipped,
                    last: false,
                });
            }
            seen = text.len();
            if text.len() > self.limits.line {
                text.truncate(200);
                skipped.get_or_insert(std::mem::take(&mut text));
                if !self.skip_line(&mut text)? {
                    return Ok(Block {
                        text,
                        skipped,
                        last: true,
                    });
                }
                return Ok(self.rest_of(text, skipped));
            }
        }
    }

    fn rest_of(&mut self, text: Vec<u8>, skipped: Option<Vec<u8>>) -> Block {
        self.rest = text;
        Block {
            text: Vec::new(),
            skipped,
            last: false,
        }
    }

    /// Read on to the end of the line and leave what follows it in `text`; false at the end of the file.
    fn skip_line(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            text.clear();
            let more = self.input.read(text)?;
            self.bytes += text.len() as u64;
            if let Some(end) = memchr::memchr(b'\n', text) {
                text.drain(..=end);
                return Ok(more);
            }
            if !more {
                text.clear();
                return Ok(false);
            }
        }
    }
}

/// The text of one chunk.
pub fn text_of(path: &Path, place: &Checkpoint, done: &Arc<AtomicU64>) -> io::Result<Vec<u8>> {
    let mut input = Input::open(path, Arc::clone(done))?;
    let mut passed = 0;
    let mut text = Vec::new();
    loop {
        let mut piece = Vec::new();
        let more = input.read(&mut piece)?;
        let start = place
            .uc_offset
            .saturating_sub(passed)
            .min(piece.len() as u64) as usize;
        passed += piece.len() as u64;
        text.extend_from_slice(&piece[start..]);
        if !more || text.len() as u64 >= place.uc_size {
            text.truncate(place.uc_size.min(text.len() as u64) as usize);
            return Ok(text);
        }
    }
}
