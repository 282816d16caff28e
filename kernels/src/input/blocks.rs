//! Read one file, or one chunk of it, in blocks of whole lines.

use std::io::{self, Error, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use super::file::{Input, Step};
use super::resume::WINDOW;
use super::{Block, Checkpoint, Damage, Limits};

/// Text inflated per step.
const STEP: usize = 1 << 19;
/// The same while searching for the end of a chunk's last line, so that its chunk hardly exceeds its size.
const SMALL_STEP: usize = 1 << 12;
/// The same for chunks of a few lines.
const LEAST_STEP: usize = 64;
/// Maximum distance of the end of a line from a place for a chunk to begin there.
const LINE_REST: u64 = 1 << 20;
/// Maximum distance to shorten a block by so as not to separate lines that belong together.
const JOINED_MOST: usize = 1 << 16;
/// Length of the example of a skipped line.
const EXAMPLE: usize = 200;

/// The place where the next chunk may begin, except for the line that is there.
struct Cut {
    offset: u64,
    c_offset: u64,
    bits: u8,
    window: Option<Vec<u8>>,
}

/// A file as blocks of whole lines.
pub struct BlockSource {
    input: Input,
    limits: Limits,
    /// Text after the last block, and its place in the unpacked file.
    rest: Vec<u8>,
    offset: u64,
    /// The text before it, as far as deflate may refer to it.
    tail: Vec<u8>,
    /// The start of the current gzip member in the unpacked file.
    member: u64,
    /// Lines before `offset`.
    lines: u64,
    /// The current chunk, without its sizes.
    chunk: Checkpoint,
    cut: Option<Cut>,
    /// The requested chunk, if only one is read, and its remaining bytes.
    only: Option<Checkpoint>,
    left: usize,
}

impl BlockSource {
    /// Read a file from its beginning; `done` counts the bytes read of it.
    pub fn open(path: &Path, file: u32, limits: Limits, done: Arc<AtomicU64>) -> io::Result<BlockSource> {
        Ok(BlockSource::of(Input::open(path, done)?, file, limits))
    }

    /// Read a text from its beginning.
    pub fn of(input: Input, file: u32, limits: Limits) -> BlockSource {
        let chunk = Checkpoint { file, packed: input.packed(), ..Checkpoint::default() };
        BlockSource::new(input, limits, chunk)
    }

    /// Read one chunk again; its blocks are numbered as in the whole file.
    ///
    /// Fails, here or in `block`, if the file has changed.
    pub fn chunk(path: &Path, place: &Checkpoint, limits: Limits, done: Arc<AtomicU64>) -> io::Result<BlockSource> {
        let input = Input::at(path, place, done)?.ok_or_else(changed)?;
        let mut source = BlockSource::new(input, limits, place.clone());
        source.limits.chunk = u64::MAX;
        source.offset = place.uc_offset;
        source.lines = place.first_line;
        source.pass(place.skip)?;
        source.left = usize::try_from(place.uc_size).map_err(|_| changed())?;
        source.only = Some(place.clone());
        Ok(source)
    }

    fn new(input: Input, mut limits: Limits, chunk: Checkpoint) -> BlockSource {
        // Shorter lines may be in a block between others, where their length is not checked.
        limits.line = limits.line.max(limits.block.saturating_add(2 * STEP));
        BlockSource {
            input,
            limits,
            rest: Vec::new(),
            offset: 0,
            tail: Vec::new(),
            member: 0,
            lines: 0,
            chunk,
            cut: None,
            only: None,
            left: usize::MAX,
        }
    }

    /// Why the file ended early, after its end.
    pub fn damage(&self) -> Option<Damage> {
        self.input.damage
    }

    /// Bytes of text up to the end of the last block.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    fn pass(&mut self, mut skip: u64) -> io::Result<()> {
        let mut text = Vec::new();
        while skip > 0 {
            text.clear();
            let room = skip.min(STEP as u64) as usize;
            if self.input.read(&mut text, room, false)? == Step::End && text.is_empty() {
                return Err(changed());
            }
            skip -= text.len() as u64;
        }
        Ok(())
    }

    /// The next block, in the memory of an old one.
    pub fn block(&mut self, mut text: Vec<u8>) -> io::Result<Block> {
        text.clear();
        text.reserve(self.limits.block.saturating_add(2 * STEP));
        text.append(&mut self.rest);
        let mut seen = 0;
        loop {
            if self.begins_long(&text) {
                return self.skip_line(text);
            }
            self.plain_cut(&text);
            if let Some(at) = self.place_of_cut(&text) {
                return Ok(self.cut_at(text, at));
            }
            if text.len() >= self.limits.block {
                if let Some(end) = self.line_end(&text, seen) {
                    return Ok(self.hand_out(text, end));
                }
                seen = text.len();
            }
            if !self.step(&mut text)? {
                if self.begins_long(&text) {
                    return self.skip_line(text);
                }
                let end = text.len();
                let block = self.hand_out(text, end);
                return self.finish(block);
            }
        }
    }

    /// Whether the first line of a text is longer than the limit.
    fn begins_long(&self, text: &[u8]) -> bool {
        let limit = self.limits.line;
        text.get(..=limit).is_some_and(|text| !text.contains(&b'\n'))
    }

    /// The place in `text` where the next chunk begins, once there is text after it.
    fn place_of_cut(&self, text: &[u8]) -> Option<usize> {
        let cut = self.cut.as_ref()?;
        let from = cut.offset.saturating_sub(self.offset) as usize;
        let begins = match from.checked_sub(1) {
            None => true,
            Some(before) => text.get(before) == Some(&b'\n'),
        };
        let mut at = match begins {
            true => from,
            false => from + memchr(b'\n', text.get(from..)?)? + 1,
        };
        while text.get(at..)?.starts_with(self.limits.joined) && !self.limits.joined.is_empty() {
            at += memchr(b'\n', text.get(at..)?)? + 1;
        }
        (at + self.limits.joined.len().max(1) <= text.len()).then_some(at)
    }

    /// The end of the last line that may end a block; no such line ends before `seen`.
    fn line_end(&self, text: &[u8], seen: usize) -> Option<usize> {
        let joined = self.limits.joined;
        let found = text.get(seen..)?;
        if joined.is_empty() {
            return Some(seen + memrchr(b'\n', found)? + 1);
        }
        // The line after the last one is not known yet. A run of joined lines without end is cut anywhere.
        let from = text.len().saturating_sub(JOINED_MOST);
        let ends = memrchr_iter(b'\n', text.get(from..)?).map(|end| from + end + 1);
        let apart =
            |end: &usize| text.get(*end..).is_some_and(|next| next.len() >= joined.len() && !next.starts_with(joined));
        ends.clone().find(apart).or_else(|| Some(seen + memrchr(b'\n', found)? + 1))
    }

    /// Read more text; false at its end.
    fn step(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        let had = text.len();
        let now = self.offset + had as u64;
        let size = now - self.chunk.uc_offset;
        if self.cut.as_ref().is_some_and(|cut| now > cut.offset.saturating_add(LINE_REST)) {
            self.cut = None;
        }
        let large = match self.chunk.window {
            Some(_) => size >= self.limits.chunk,
            None => size / 2 >= self.limits.chunk,
        };
        let stop = self.cut.is_none() && large && self.input.inside();
        let room = match self.cut {
            Some(_) => SMALL_STEP,
            None => STEP,
        };
        // Small chunks end soon after their minimum size.
        let room = room.min(usize::try_from(self.limits.chunk).unwrap_or(STEP).max(LEAST_STEP));
        let step = self.input.read(text, room.min(self.left), stop)?;
        let more = match step {
            Step::End => false,
            Step::More => true,
            Step::Member => {
                self.member = now;
                if size >= self.limits.chunk || self.cut.is_some() {
                    self.cut = Some(Cut { offset: now, c_offset: self.input.position(), bits: 0, window: None });
                }
                true
            }
            Step::BlockEnd => self.seek_point(text)?,
        };
        self.left -= (text.len() - had).min(self.left);
        Ok(more && self.left > 0)
    }

    /// Plain text may be cut anywhere.
    fn plain_cut(&mut self, text: &[u8]) {
        let read = self.offset + text.len() as u64 - self.chunk.uc_offset;
        if self.chunk.packed || self.cut.is_some() || read < self.limits.chunk {
            return;
        }
        let offset = self.chunk.uc_offset + self.limits.chunk;
        self.cut = Some(Cut { offset, c_offset: offset, bits: 0, window: None });
    }

    fn seek_point(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        let offset = self.offset + text.len() as u64;
        let window = self.window(text, WINDOW.min((offset - self.member) as usize));
        if let Some(point) = self.input.point(text, &window)? {
            self.cut = Some(Cut { offset, c_offset: point.offset, bits: point.bits, window: Some(window) });
        }
        Ok(true)
    }

    /// The last `size` bytes up to the end of `text`.
    fn window(&self, text: &[u8], size: usize) -> Vec<u8> {
        let last = |from: &[u8], size: usize| from[from.len().saturating_sub(size)..].to_vec();
        let mut window = last(&self.tail, size.saturating_sub(text.len()));
        window.extend(last(text, size));
        window
    }

    /// Make the first `end` bytes of `text` a block.
    fn hand_out(&mut self, mut text: Vec<u8>, end: usize) -> Block {
        self.rest = text.split_off(end.min(text.len()));
        self.tail = self.window(&text, WINDOW);
        let mut lines = memchr_iter(b'\n', &text).count() as u64;
        lines += u64::from(text.last().is_some_and(|last| *last != b'\n'));
        let block = Block {
            text,
            skipped: None,
            chunk: self.chunk.number,
            first_line: self.lines,
            lines,
            end: None,
            last: false,
        };
        self.lines += lines;
        self.offset += block.text.len() as u64;
        block
    }

    /// End a chunk and begin the next one.
    fn cut_at(&mut self, text: Vec<u8>, at: usize) -> Block {
        let mut block = self.hand_out(text, at);
        let Some(mut cut) = self.cut.take() else {
            return block;
        };
        let mut skip = self.offset.saturating_sub(cut.offset);
        let mut end = if skip == 0 { cut.c_offset } else { self.input.position() };
        if !self.chunk.packed {
            cut.c_offset += skip;
            (skip, end) = (0, cut.c_offset);
        }
        block.end = Some(self.ended(end));
        self.chunk = Checkpoint {
            number: self.chunk.number + 1,
            uc_offset: self.offset,
            c_offset: cut.c_offset,
            bits: cut.bits,
            window: cut.window,
            skip,
            first_line: self.lines,
            ..self.chunk
        };
        block
    }

    /// The chunk up to the end of the last block; it is read up to `end` in the file.
    fn ended(&self, end: u64) -> Checkpoint {
        Checkpoint {
            uc_size: self.offset - self.chunk.uc_offset,
            c_size: end.saturating_sub(self.chunk.c_offset),
            lines: self.lines - self.chunk.first_line,
            ..self.chunk.clone()
        }
    }

    /// Make a block the last one.
    fn finish(&mut self, mut block: Block) -> io::Result<Block> {
        block.last = true;
        let found = self.ended(self.input.position());
        match &self.only {
            Some(only) if only.uc_size != found.uc_size || only.lines != found.lines => {
                return Err(changed());
            }
            Some(only) => block.end = Some(only.clone()),
            None => block.end = Some(found).filter(|found| found.uc_size > 0),
        }
        Ok(block)
    }

    /// Skip a line that begins with `text`.
    fn skip_line(&mut self, mut text: Vec<u8>) -> io::Result<Block> {
        let head = text.get(..EXAMPLE).unwrap_or(&text).to_vec();
        let mut more = true;
        let end = loop {
            if let Some(end) = memchr(b'\n', &text) {
                break end + 1;
            }
            self.tail = self.window(&text, WINDOW);
            self.offset += text.len() as u64;
            text.clear();
            if !more {
                break 0;
            }
            more = self.step(&mut text)?;
        };
        let rest = text.split_off(end);
        self.tail = self.window(&text, WINDOW);
        self.offset += end as u64;
        text.clear();
        let mut block = self.hand_out(text, 0);
        self.rest = rest;
        self.lines += 1;
        block.skipped = Some(head);
        block.lines = 1;
        Ok(block)
    }
}

/// The text of one chunk; an error if the file has changed.
pub fn read_chunk(path: &Path, place: &Checkpoint) -> io::Result<Vec<u8>> {
    let whole = Limits { block: usize::MAX / 4, line: usize::MAX / 4, chunk: u64::MAX, joined: b"" };
    let mut source = BlockSource::chunk(path, place, whole, Arc::default())?;
    let mut text = Vec::new();
    while source.step(&mut text)? {}
    if text.len() as u64 == place.uc_size { Ok(text) } else { Err(changed()) }
}

fn changed() -> Error {
    Error::new(ErrorKind::InvalidData, "the file has changed")
}
