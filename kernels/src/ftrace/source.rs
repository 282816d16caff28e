//! Files -> ftrace text: unpacks gzip, inflates output of adb, and extracts the traces of viewer pages.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use memchr::{memchr, memmem};

use super::page::{self, Part};

/// Bytes at the beginning that determine the format.
const HEAD: usize = 1 << 16;
/// The largest page that is read; pages are held in memory whole.
const PAGE_LIMIT: u64 = 512 << 20;

type Text = Box<dyn Read + Send>;

/// An opened file.
pub struct FtraceFile {
    pub text: Text,
    /// Parts of a page marked as traces without ftrace text.
    pub foreign: u64,
    /// Parts of a page that could not be unpacked.
    pub damaged: u64,
    /// Whether the file is longer than the part of a page that is read.
    pub cut: bool,
}

/// Whether a file is the text itself, or gzip of it, so that it can be read in chunks.
pub fn is_text(path: &Path) -> io::Result<bool> {
    let (head, text) = peek(Box::new(File::open(path)?))?;
    let head = match head.starts_with(&[0x1f, 0x8b]) {
        true => peek(Box::new(MultiGzDecoder::new(BufReader::new(text))))?.0,
        false => head,
    };
    Ok(packed_start(&head).is_none() && !is_page(&head) && !is_string(&head))
}

/// Open a file by its contents.
pub fn open(path: &Path, position: Arc<AtomicU64>) -> io::Result<FtraceFile> {
    let file = Counted { inner: File::open(path)?, position };
    let (head, text) = peek(Box::new(file))?;
    let (head, text) = if head.starts_with(&[0x1f, 0x8b]) {
        peek(Box::new(MultiGzDecoder::new(BufReader::with_capacity(HEAD, text))))?
    } else {
        (head, text)
    };
    let mut source = FtraceFile { text, foreign: 0, damaged: 0, cut: false };
    if let Some(start) = packed_start(&head) {
        let mut text = BufReader::with_capacity(HEAD, source.text);
        io::copy(&mut text.by_ref().take(start as u64), &mut io::sink())?;
        source.text = unpack(text);
    } else if is_page(&head) {
        return open_page(source);
    } else if is_string(&head) {
        let (bytes, cut) = whole(source.text)?;
        source.text = Box::new(Cursor::new(page::unescape(&bytes)));
        source.cut = cut;
    }
    Ok(source)
}

/// Read the beginning and return it along with a reader that still includes it.
fn peek(mut text: Text) -> io::Result<(Vec<u8>, Text)> {
    let mut head = Vec::with_capacity(HEAD);
    let ended = text.by_ref().take(HEAD as u64).read_to_end(&mut head);
    let rest: Text = match ended {
        Ok(_) => text,
        Err(error) if head.is_empty() => return Err(error),
        Err(error) => Box::new(Failing(Some(error))),
    };
    Ok((head.clone(), Box::new(Cursor::new(head).chain(rest))))
}

fn unpack(mut text: impl BufRead + Send + 'static) -> Text {
    match text.fill_buf() {
        Ok([0x1f, 0x8b, ..]) => Box::new(MultiGzDecoder::new(text)),
        _ => Box::new(Inflate { inner: text, state: Decompress::new(true), ended: false }),
    }
}

/// The start of a zlib stream: at once, or after the line `TRACE:` of atrace.
fn packed_start(head: &[u8]) -> Option<usize> {
    if page::is_packed(head) {
        return Some(0);
    }
    let marker = memmem::find(&head[..head.len().min(4096)], b"TRACE:")?;
    let start = marker + memchr(b'\n', &head[marker..])? + 1;
    (page::is_packed(&head[start..]) && (marker == 0 || head[marker - 1] == b'\n')).then_some(start)
}

fn is_page(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let starts = |tag: &[u8]| text.get(..tag.len()).is_some_and(|t| t.eq_ignore_ascii_case(tag));
    starts(b"<!doctype html") || starts(b"<html") || starts(b"<head") || starts(b"<script") || starts(b"<!--")
}

/// Whether the first line ends like those of the string in an old page: `\n\`.
fn is_string(head: &[u8]) -> bool {
    let line = &head[..memchr(b'\n', head).unwrap_or(head.len())];
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\n\\")
}

fn open_page(mut source: FtraceFile) -> io::Result<FtraceFile> {
    let (bytes, cut) = whole(source.text)?;
    source.cut = cut;
    let mut text: Text = Box::new(io::empty());
    for part in page::parts(&bytes) {
        let next: Text = match part {
            Part::Text(bytes) => Box::new(Cursor::new(bytes)),
            Part::Packed(bytes) => unpack(Cursor::new(bytes)),
            Part::Foreign => {
                source.foreign += 1;
                continue;
            }
            Part::Damaged => {
                source.damaged += 1;
                continue;
            }
            Part::Cut => {
                source.cut = true;
                continue;
            }
        };
        text = Box::new(text.chain(next).chain(&b"\n"[..]));
    }
    source.text = text;
    Ok(source)
}

/// All of a text up to the limit, and whether more follows or it ended early.
fn whole(mut text: Text) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let ended = text.by_ref().take(PAGE_LIMIT).read_to_end(&mut bytes);
    let cut = ended.is_err() || text.read(&mut [0])? > 0;
    Ok((bytes, cut))
}

struct Counted {
    inner: File,
    position: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The rest of a stream with an error at its beginning.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A zlib stream that reports an early end; flate2's own reader treats that as a normal end.
struct Inflate<R> {
    inner: R,
    state: Decompress,
    ended: bool,
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !buffer.is_empty() {
            let input = self.inner.fill_buf()?;
            let exhausted = input.is_empty();
            let (before_in, before_out) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, buffer, FlushDecompress::None);
            let used = (self.state.total_in() - before_in) as usize;
            let made = (self.state.total_out() - before_out) as usize;
            self.inner.consume(used);
            self.ended = status.map_err(io::Error::other)? == Status::StreamEnd;
            if made > 0 {
                return Ok(made);
            }
            if exhausted && !self.ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}
