//! Split the text of a file into pieces, each assigned to its chunk.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memrchr;

use super::part::{LINE_LIMIT, Part};
use super::source::{self, Gathered};
use crate::input::{BlockSource, Checkpoint, Damage, Limits};

/// Larger than the longest line, small enough to stay in a core's cache.
const BLOCK: usize = 2 << 20;

/// A run of whole lines, or a line that is too long to be read.
pub struct Piece {
    pub text: Vec<u8>,
    skipped: Option<Vec<u8>>,
    /// The chunk that ends with it.
    pub end: Option<Checkpoint>,
}

impl Piece {
    /// Decode it into the part of its chunk.
    pub fn decode(&self, part: &mut Part) {
        match &self.skipped {
            Some(head) => part.long_line(head),
            None => part.decode(&self.text),
        }
    }
}

/// The text of a file.
pub struct Texts {
    source: BlockSource,
    /// Set if the text cannot be cut.
    gathered: Option<Gathered>,
    ended: bool,
    /// Whether the file is known to end early: then its last line is ignored.
    damaged: bool,
    /// Whether the text ends in the middle of a line.
    open: bool,
}

fn limits(chunk: u64) -> Limits {
    Limits { block: BLOCK, line: BLOCK, chunk, joined: b" => " }
}

impl Texts {
    /// Read a file from its beginning, in chunks if its format allows; `position` counts the bytes read.
    pub fn open(path: &Path, file: u32, chunk: u64, position: Arc<AtomicU64>) -> io::Result<Texts> {
        if source::is_text(path)? {
            return Ok(Texts::new(BlockSource::open(path, file, limits(chunk), position)?, None));
        }
        let (text, gathered) = source::open(path, position)?;
        Ok(Texts::new(BlockSource::of(text, file, limits(u64::MAX)), Some(gathered)))
    }

    /// Read one chunk again; `damaged` means that its file ends early.
    pub fn chunk(path: &Path, place: &Checkpoint, damaged: bool) -> io::Result<Texts> {
        let done = Arc::default();
        if !source::is_text(path)? {
            return Texts::open(path, place.file, u64::MAX, done);
        }
        let source = BlockSource::chunk(path, place, limits(u64::MAX), done)?;
        let mut texts = Texts::new(source, None);
        texts.damaged = damaged;
        Ok(texts)
    }

    fn new(source: BlockSource, gathered: Option<Gathered>) -> Texts {
        Texts { source, gathered, ended: false, damaged: false, open: false }
    }

    /// Whether the text ends without the end of a line, in an otherwise intact file.
    pub fn open_ended(&self) -> bool {
        self.open && self.broken().is_none()
    }

    /// Parts of a page without ftrace text, and parts that could not be unpacked.
    pub fn passed_over(&self) -> (u64, u64) {
        self.gathered.as_ref().map_or((0, 0), |gathered| (gathered.foreign, gathered.damaged))
    }

    /// Why the file was not read to its end.
    pub fn broken(&self) -> Option<String> {
        let damage = self.source.damage();
        let Some(gathered) = &self.gathered else {
            return damage.map(|damage| {
                match damage {
                    Damage::Truncated => "gzip data end early",
                    Damage::Corrupt => "gzip data are damaged",
                    Damage::Trailing => "something that is not gzip follows gzip data",
                }
                .to_owned()
            });
        };
        let cut = gathered.cut.then_some("page is longer than 512 MiB or breaks off");
        damage.map(|damage| damage.to_string()).or(cut.map(str::to_owned))
    }

    /// The next piece, in the memory of an old one; None at the end.
    pub fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Piece>> {
        if self.ended {
            return Ok(None);
        }
        let mut block = self.source.block(spare)?;
        self.ended = block.last;
        if block.last && (self.damaged || self.source.damage().is_some()) {
            // A line that was cut by a damaged stream would give wrong values.
            let end = memrchr(b'\n', &block.text).map_or(0, |end| end + 1);
            block.text.truncate(end);
        }
        self.open = is_open(&block.text, self.open);
        if let (Some(end), Some(gathered)) = (&mut block.end, &self.gathered) {
            end.c_size = gathered.size;
        }
        Ok(Some(Piece { text: block.text, skipped: block.skipped, end: block.end }))
    }
}

/// Whether the last line of a text has no end, unless it is blank or too long to be read; `before` if there is no text.
fn is_open(text: &[u8], before: bool) -> bool {
    if text.is_empty() {
        return before;
    }
    let start = memrchr(b'\n', text).map_or(0, |end| end + 1);
    text.len() - start <= LINE_LIMIT && !text[start..].trim_ascii().is_empty()
}
