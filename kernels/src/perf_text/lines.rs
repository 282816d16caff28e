//! Read files, plain or gzip, line by line; flaws of files become notes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memchr;

use crate::input::{BlockSource, Damage, Limits};
use crate::rows::{Failure, Notes, TextRead};

/// The longest line that is read.
pub const LINE_LIMIT: usize = 1 << 20;
const BLOCK: usize = 1 << 20;

/// The result of `next`.
pub enum Next {
    /// A line is in `text`.
    Line,
    /// A file has ended.
    End,
    /// All files have ended.
    Nothing,
}

/// The lines of files, one file after the other.
#[derive(Default)]
pub struct Lines {
    paths: std::vec::IntoIter<PathBuf>,
    path: PathBuf,
    source: Option<BlockSource>,
    done: Arc<AtomicU64>,
    block: Vec<u8>,
    at: usize,
    line: (usize, usize),
    last: bool,
    /// The number of the file, and of the line in it, from 1.
    pub file: u32,
    pub number: u64,
    pub notes: Notes,
    /// Statistics of the files that have ended, and of the current one.
    pub read: Vec<TextRead>,
    now: TextRead,
    /// Whether the last line lacks its end.
    open: bool,
}

impl Lines {
    pub fn new(paths: Vec<PathBuf>, done: Arc<AtomicU64>) -> Lines {
        Lines { paths: paths.into_iter(), done, ..Lines::default() }
    }

    /// The current line, without its end.
    pub fn text(&self) -> &[u8] {
        let line = self.block.get(self.line.0..self.line.1).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Bytes of text that were read.
    pub fn place(&self) -> u64 {
        self.source.as_ref().map_or(0, BlockSource::bytes)
    }

    /// Go to the next line.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn next(&mut self) -> Result<Next, Failure> {
        loop {
            if self.at < self.block.len() {
                let rest = self.block.get(self.at..).unwrap_or_default();
                let end = memchr(b'\n', rest);
                let size = end.unwrap_or(rest.len());
                self.line = (self.at, self.at + size);
                self.at += size + 1;
                self.number += 1;
                let text = self.text().trim_ascii();
                let tells = !matches!(text, [] | [b'#', ..]);
                self.open = end.is_none() && !text.is_empty();
                self.now.with_data += u64::from(tells);
                return Ok(Next::Line);
            }
            if self.source.is_none() && !self.open()? {
                return Ok(Next::Nothing);
            }
            if self.last {
                self.end_file();
                return Ok(Next::End);
            }
            self.read()?;
        }
    }

    fn open(&mut self) -> Result<bool, Failure> {
        let Some(path) = self.paths.next() else {
            return Ok(false);
        };
        let limits = Limits { block: BLOCK, line: LINE_LIMIT, chunk: u64::MAX, joined: b"" };
        let source = BlockSource::open(&path, self.file, limits, Arc::clone(&self.done));
        self.source = Some(source.map_err(|error| failed(&path, error))?);
        self.path = path;
        self.last = false;
        self.number = 0;
        Ok(true)
    }

    fn read(&mut self) -> Result<(), Failure> {
        let Some(source) = &mut self.source else {
            return Ok(());
        };
        let block = source.block(std::mem::take(&mut self.block));
        let block = block.map_err(|error| failed(&self.path, error))?;
        self.block = block.text;
        self.at = 0;
        self.last = block.last;
        if let Some(head) = block.skipped {
            self.number += 1;
            self.now.with_data += 1;
            self.unread("line is longer than 1 MiB", true, &head);
        }
        Ok(())
    }

    fn end_file(&mut self) {
        let damage = self.source.take().and_then(|source| source.damage());
        let example = match damage {
            None => None,
            Some(Damage::Truncated) => Some("the gzip stream ends early"),
            Some(Damage::Corrupt) => Some("the gzip stream is damaged"),
            Some(Damage::Trailing) => Some("something that is not gzip follows the gzip stream"),
        };
        if let Some(example) = example {
            self.notes.of(self.file).add("file is damaged or ends early", 1, true, || example.to_owned());
        } else if std::mem::take(&mut self.open) {
            let line = self.text().to_vec();
            self.note("file ends in the middle of a line", true, &line);
        }
        self.read.push(TextRead { file: self.file, ..std::mem::take(&mut self.now) });
        self.file += 1;
        self.block.clear();
        self.at = 0;
    }

    /// Count a line from which nothing is kept; the first one is the example.
    pub fn unread(&mut self, reason: &str, incomplete: bool, line: &[u8]) {
        self.now.unread += 1;
        self.note(reason, incomplete, line);
    }

    /// Count a line; the first one is the example.
    pub fn note(&mut self, reason: &str, incomplete: bool, line: &[u8]) {
        let example = || {
            let text = String::from_utf8_lossy(line.get(..160).unwrap_or(line));
            format!("line {}: {}", self.number, text.trim())
        };
        self.notes.of(self.file).add(reason, 1, incomplete, example);
    }
}

fn failed(path: &std::path::Path, error: std::io::Error) -> Failure {
    Failure::Io(path.display().to_string(), error)
}
