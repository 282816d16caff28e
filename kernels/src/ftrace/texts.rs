//! A file -> the pieces of its text, with their chunks.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::{memchr, memchr_iter, memrchr};

use super::part::{LINE_LIMIT, Part};
use super::source;
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

enum Form {
    /// Text, plain or gzip.
    Text(Box<BlockSource>),
    /// A text that cannot be cut.
    Whole(Blocks, source::FtraceFile, Box<Checkpoint>),
}

/// The text of a file.
pub struct Texts {
    form: Form,
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
            let source = BlockSource::open(path, file, limits(chunk), position)?;
            return Ok(Texts::new(Form::Text(Box::new(source))));
        }
        let size = std::fs::metadata(path)?.len();
        let mut source = source::open(path, position)?;
        let place = Checkpoint { file, c_size: size, ..Checkpoint::default() };
        let text = std::mem::replace(&mut source.text, Box::new(io::empty()));
        let form = Form::Whole(Blocks::new(text), source, Box::new(place));
        Ok(Texts::new(form))
    }

    /// Read one chunk again; `damaged` means that its file ends early.
    pub fn chunk(path: &Path, place: &Checkpoint, damaged: bool) -> io::Result<Texts> {
        let done = Arc::default();
        if !source::is_text(path)? {
            return Texts::open(path, place.file, u64::MAX, done);
        }
        let source = BlockSource::chunk(path, place, limits(u64::MAX), done)?;
        let mut texts = Texts::new(Form::Text(Box::new(source)));
        texts.damaged = damaged;
        Ok(texts)
    }

    fn new(form: Form) -> Texts {
        Texts { form, ended: false, damaged: false, open: false }
    }

    /// Whether the text ends without the end of a line, in an otherwise intact file.
    pub fn open_ended(&self) -> bool {
        self.open && self.broken().is_none()
    }

    /// Parts of a page without ftrace text.
    pub fn foreign(&self) -> u64 {
        self.page().map_or(0, |page| page.foreign)
    }

    /// Parts of a page that could not be unpacked.
    pub fn damaged(&self) -> u64 {
        self.page().map_or(0, |page| page.damaged)
    }

    fn page(&self) -> Option<&source::FtraceFile> {
        match &self.form {
            Form::Whole(_, page, _) => Some(page),
            Form::Text(_) => None,
        }
    }

    /// Lines of a page that were longer than a block, and skipped.
    pub fn endless(&self) -> u64 {
        match &self.form {
            Form::Whole(blocks, ..) => blocks.endless,
            Form::Text(_) => 0,
        }
    }

    /// Why the file was not read to its end.
    pub fn broken(&self) -> Option<String> {
        match &self.form {
            Form::Whole(blocks, page, _) => {
                let cut = page.cut.then_some("page is longer than 512 MiB or breaks off");
                blocks.broken.clone().or(cut.map(str::to_owned))
            }
            Form::Text(source) => source.damage().map(|damage| {
                match damage {
                    Damage::Truncated => "gzip data end early",
                    Damage::Corrupt => "gzip data are damaged",
                    Damage::Trailing => "something that is not gzip follows gzip data",
                }
                .to_owned()
            }),
        }
    }

    /// The next piece, in the memory of an old one; None at the end.
    pub fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Piece>> {
        if self.ended {
            return Ok(None);
        }
        match &mut self.form {
            Form::Text(source) => {
                let mut block = source.block(spare)?;
                self.ended = block.last;
                if block.last && (self.damaged || source.damage().is_some()) {
                    // A line that was cut by a damaged stream would give wrong values.
                    let end = memrchr(b'\n', &block.text).map_or(0, |end| end + 1);
                    block.text.truncate(end);
                }
                self.open = is_open(&block.text, self.open);
                Ok(Some(Piece { text: block.text, skipped: block.skipped, end: block.end }))
            }
            Form::Whole(blocks, _, place) => {
                let text = blocks.next();
                self.ended = text.is_none();
                let text = text.unwrap_or_default();
                self.open = is_open(&text, self.open);
                place.uc_size += text.len() as u64;
                place.lines += memchr_iter(b'\n', &text).count() as u64;
                place.lines += u64::from(text.last().is_some_and(|last| *last != b'\n'));
                Ok(Some(Piece { text, skipped: None, end: self.ended.then(|| (**place).clone()) }))
            }
        }
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

/// Cuts a text into blocks of whole lines.
struct Blocks {
    text: Box<dyn Read + Send>,
    carry: Vec<u8>,
    ended: bool,
    broken: Option<String>,
    endless: u64,
}

impl Blocks {
    fn new(text: Box<dyn Read + Send>) -> Blocks {
        Blocks { text, carry: Vec::new(), ended: false, broken: None, endless: 0 }
    }

    /// Append up to a block's worth to `block`; nothing at the end of the text, or after an error.
    fn fill(&mut self, block: &mut Vec<u8>) {
        let room = BLOCK.saturating_sub(block.len()).max(1 << 16);
        block.reserve(room);
        match self.text.by_ref().take(room as u64).read_to_end(block) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) => {
                self.ended = true;
                self.broken = Some(error.to_string());
            }
        }
    }

    /// Skip the rest of a line and return the text after it.
    fn after_line(&mut self) -> Vec<u8> {
        self.endless += 1;
        loop {
            let mut piece = Vec::new();
            self.fill(&mut piece);
            if let Some(end) = memchr(b'\n', &piece) {
                return piece.split_off(end + 1);
            }
            if self.ended {
                return Vec::new();
            }
        }
    }
}

impl Iterator for Blocks {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut block = std::mem::take(&mut self.carry);
        while !self.ended {
            self.fill(&mut block);
            if block.len() < BLOCK && !self.ended {
                continue;
            }
            match memrchr(b'\n', &block) {
                Some(end) if !self.ended => {
                    self.carry = block.split_off(end + 1);
                    return Some(block);
                }
                // A line that was cut by a damaged stream would give wrong values.
                Some(end) if self.broken.is_some() => block.truncate(end + 1),
                None if self.broken.is_some() => block.clear(),
                None if block.len() >= BLOCK => block = self.after_line(),
                _ => {}
            }
        }
        Some(block).filter(|b| !b.is_empty())
    }
}
