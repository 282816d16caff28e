//! Open files as ftrace text: unpack gzip, inflate the output of adb, and extract the traces of viewer pages.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::{memchr, memmem};

use super::page::{self, Part};
use crate::input::{Input, Window};

/// Bytes at the beginning that determine the format.
const HEAD: usize = 1 << 16;
/// The largest page that is read; pages are held in memory whole.
const PAGE_LIMIT: u64 = 512 << 20;

type Text = Box<dyn Read + Send + Sync>;

/// How a text was gathered that is not that of its file.
#[derive(Default)]
pub struct Gathered {
    /// The size of the file.
    pub size: u64,
    /// Parts of a page marked as traces without ftrace text.
    pub foreign: u64,
    /// Parts of a page that could not be unpacked.
    pub damaged: u64,
    /// Whether the file is longer than the part of a page that is read.
    pub cut: bool,
}

/// What the text of a file is, by its beginning.
enum Form {
    Text,
    /// A zlib stream that begins at this byte.
    Packed(usize),
    Page,
    String,
}

fn form(text: &mut Window<Input>) -> io::Result<Form> {
    text.need(HEAD)?;
    let rest = text.rest();
    let head = rest.get(..HEAD).unwrap_or(rest);
    Ok(match packed_start(head) {
        Some(start) => Form::Packed(start),
        None if is_page(head) => Form::Page,
        None if is_string(head) => Form::String,
        None => Form::Text,
    })
}

/// Whether a file is the text itself, or gzip of it, so that it can be read in chunks.
pub fn is_text(path: &Path) -> io::Result<bool> {
    let form = form(&mut Window::new(Input::open(path, Arc::default())?))?;
    Ok(matches!(form, Form::Text))
}

/// Open a file by its contents.
pub fn open(path: &Path, position: Arc<AtomicU64>) -> io::Result<(Input, Gathered)> {
    let mut gathered = Gathered { size: std::fs::metadata(path)?.len(), ..Gathered::default() };
    let mut text = Window::new(Input::open(path, position)?);
    let input = match form(&mut text)? {
        Form::Text => Input::of_text(text),
        Form::Packed(start) => {
            text.pass(start);
            Input::of_stream(text)?
        }
        Form::Page => Input::of_text(page_text(text, &mut gathered)?),
        Form::String => Input::of_text(Cursor::new(page::unescape(&whole(text, &mut gathered)?))),
    };
    Ok((input, gathered))
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

/// The texts of a page, one after the other.
fn page_text(page: Window<Input>, gathered: &mut Gathered) -> io::Result<Text> {
    let mut text: Text = Box::new(io::empty());
    for part in page::parts(&whole(page, gathered)?) {
        let next: Text = match part {
            Part::Text(bytes) => Box::new(Cursor::new(bytes)),
            Part::Packed(bytes) => Box::new(Window::new(Input::of_stream(Cursor::new(bytes))?)),
            Part::Foreign => {
                gathered.foreign += 1;
                continue;
            }
            Part::Damaged => {
                gathered.damaged += 1;
                continue;
            }
            Part::Cut => {
                gathered.cut = true;
                continue;
            }
        };
        text = Box::new(text.chain(next).chain(&b"\n"[..]));
    }
    Ok(text)
}

/// All of a text up to the limit; it is cut if more follows, or if it ended early.
fn whole(mut text: Window<Input>, gathered: &mut Gathered) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let ended = text.by_ref().take(PAGE_LIMIT).read_to_end(&mut bytes);
    gathered.cut = ended.is_err() || text.read(&mut [0])? > 0;
    Ok(bytes)
}
