//! Parse marks written by programs (`B|12|name`) into one table for each kind of mark.

use memchr::{memchr, memmem, memrchr};

use super::fields::{Fill, pairs};
use super::line::integer;

/// Whether an event of this name is a mark; it is a bare address if the kernel has no name for its writer.
pub fn is_mark(event: &[u8]) -> bool {
    matches!(event, b"print" | b"0") || event.starts_with(b"0x") || is_writer(event)
}

/// Whether a text is the kernel function that writes marks, with an offset (option `sym-offset`) or without.
fn is_writer(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"tracing_mark_write");
    rest.is_some_and(|rest| matches!(rest, [] | [b'+' | b' ', ..]))
}

/// The name for counting a mark: addresses differ from line to line.
pub fn printed(event: &[u8]) -> &[u8] {
    match event {
        [b'0', b'x', ..] => b"0x...",
        _ if is_writer(event) => b"tracing_mark_write",
        _ => event,
    }
}

/// A mark without its prefix.
pub struct Mark<'a> {
    pub ip: Option<&'a [u8]>,
    pub text: &'a [u8],
}

/// Remove the writer's address: `0xffff0000s: text`, `tracing_mark_write: text`, `ip=... buf=text`.
pub fn strip<'a>(event: &'a [u8], body: &'a [u8]) -> Mark<'a> {
    if event != b"print" {
        let ip = (event != b"0").then_some(event);
        return Mark { ip, text: body };
    }
    if let Some(rest) = body.strip_prefix(b"ip=")
        && let Some(at) = memmem::find(rest, b" buf=")
    {
        return Mark { ip: Some(&rest[..at]), text: &rest[at + 5..] };
    }
    match memmem::find(body, b": ") {
        Some(at) if body.starts_with(b"0x") || is_writer(&body[..at]) => {
            Mark { ip: Some(&body[..at]), text: body[at + 2..].trim_ascii_start() }
        }
        _ => Mark { ip: None, text: body },
    }
}

/// The kind of a mark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A letter followed by a bar, or `E` alone.
    Letter(u8),
    ClockSync,
    Free,
}

pub fn kind(text: &[u8]) -> Kind {
    match text {
        b"E" => Kind::Letter(b'E'),
        [letter @ b'A'..=b'Z', b'|', ..] => Kind::Letter(*letter),
        _ if text.starts_with(b"trace_event_clock_sync:") => Kind::ClockSync,
        _ => Kind::Free,
    }
}

/// The fields of a mark, by its letter.
pub struct Fields<'a> {
    columns: [(&'static [u8], &'a [u8]); 4],
    count: usize,
}

impl<'a> Fields<'a> {
    fn new() -> Self {
        Fields { columns: [(b"", b""); 4], count: 0 }
    }

    fn with(mut self, key: &'static [u8], value: &'a [u8]) -> Self {
        if let Some(slot) = self.columns.get_mut(self.count) {
            *slot = (key, value);
            self.count += 1;
        }
        self
    }

    /// Name and value of each.
    pub fn all(&self) -> impl Iterator<Item = (&'static [u8], &'a [u8])> {
        self.columns.iter().take(self.count).copied()
    }

    pub fn put(&self, row: &mut impl Fill) {
        for (key, value) in self.all() {
            row.put(key, value);
        }
    }
}

/// Split a mark; None if fields required by its letter are missing.
///
/// Names may contain bars: the known fields on the left and on the right are removed, and the rest is the name.
pub fn split(letter: u8, text: &[u8]) -> Option<Fields<'_>> {
    let rest = text.get(2..).unwrap_or_default();
    if letter == b'E' && rest.is_empty() {
        return Some(Fields::new());
    }
    let (pid, rest) = match memchr(b'|', rest) {
        Some(bar) => (&rest[..bar], Some(&rest[bar + 1..])),
        None => (rest.trim_ascii_end(), None),
    };
    let known = matches!(letter, b'B' | b'E' | b'C' | b'S' | b'F' | b'I' | b'N' | b'G' | b'H');
    if !known {
        return Some(Fields::new().with(b"payload", text.get(2..).unwrap_or_default()));
    }
    integer(pid)?;
    let fields = Fields::new().with(b"pid", pid);
    match (letter, rest) {
        (b'E', None) => Some(fields),
        // It begins a slice, since an end will follow.
        (b'B', None) => Some(fields.with(b"name", b"")),
        (_, None) => None,
        (b'B' | b'E' | b'I', Some(name)) => Some(fields.with(b"name", name)),
        (b'N', Some(rest)) => {
            let (track, name) = left(rest)?;
            Some(fields.with(b"track", track).with(b"name", name))
        }
        (b'C', Some(rest)) => counter(fields, rest),
        (b'S' | b'F', Some(rest)) => {
            let (name, cookie) = right(rest)?;
            Some(fields.with(b"name", name).with(b"cookie", cookie))
        }
        (_, Some(rest)) => on_track(letter, fields, rest),
    }
}

/// `C|pid|name|value`, or with a category behind the value, as Chrome writes them.
fn counter<'a>(fields: Fields<'a>, rest: &'a [u8]) -> Option<Fields<'a>> {
    let (name, value) = right(rest)?;
    let is_number = |text: &[u8]| str::from_utf8(text).is_ok_and(|text| text.trim().parse::<f64>().is_ok());
    match right(name).filter(|(_, before)| !is_number(value) && is_number(before)) {
        Some((name, before)) => Some(fields.with(b"name", name).with(b"value", before).with(b"category", value)),
        None => Some(fields.with(b"name", name).with(b"value", value)),
    }
}

/// `G|pid|track|name|cookie`, `H|pid|track|cookie` or `H|pid|track|name|cookie`
fn on_track<'a>(letter: u8, fields: Fields<'a>, rest: &'a [u8]) -> Option<Fields<'a>> {
    let (head, cookie) = right(rest)?;
    match left(head) {
        Some((track, name)) => Some(fields.with(b"track", track).with(b"name", name).with(b"cookie", cookie)),
        None if letter == b'H' => Some(fields.with(b"track", head).with(b"cookie", cookie)),
        None => None,
    }
}

fn left(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let bar = memchr(b'|', text)?;
    Some((&text[..bar], &text[bar + 1..]))
}

fn right(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_end();
    let bar = memrchr(b'|', text)?;
    Some((&text[..bar], &text[bar + 1..]))
}

/// `trace_event_clock_sync: parent_ts=1.5`
pub fn clock_sync(text: &[u8], row: &mut impl Fill) {
    let body = &text[memchr(b':', text).map_or(0, |colon| colon + 1)..];
    pairs(body.trim_ascii(), row);
}
