//! Decode the lines of a chunk into one table for each event and a report of skipped lines.

use std::sync::Arc;

use memchr::memchr;
use rustc_hash::FxHashMap;

use super::fields::Fill;
use super::forms::{self, Form};
use super::line::{self, Event, Line, Other, Prefix};
use super::marks::{self, Kind};
use super::table::{Table, usual_name};
use crate::columns::Expected;

/// The longest line that is read.
pub const LINE_LIMIT: usize = 1 << 20;
/// Maximum number of different events with tables in a chunk.
const TABLE_LIMIT: usize = 4096;
const EXAMPLE: usize = 160;
/// Maximum number of lines kept of a stack.
const STACK_LIMIT: usize = 1024;
/// The time of a mark without a time in the trace.
pub const TIMELESS: i64 = -1;

/// Column information known beforehand, by event.
pub type Hints = FxHashMap<Vec<u8>, Arc<Expected>>;

/// Why a line, or a part of one, is missing in the events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Unknown,
    Stack,
    Unnamed,
    BadTime,
    TooLong,
    TooManyEvents,
    Lost,
    Overwritten,
    FailedToParse,
    BadMark,
    WholeTime,
    Timeless,
}

pub const REASONS: [(Reason, &str, &str); 12] = [
    (Reason::Unknown, "unknown", "line is not an event"),
    (Reason::Stack, "stack", "line of a stack trace"),
    (Reason::Unnamed, "unnamed", "line has a time but no event name"),
    (Reason::BadTime, "bad_time", "time is negative or too large"),
    (Reason::TooLong, "too_long", "line is longer than 1 MiB"),
    (Reason::TooManyEvents, "too_many_events", "event name beyond the 4096 that are read"),
    (Reason::Lost, "lost", "events lost by the kernel"),
    (Reason::Overwritten, "overwritten", "events overwritten in the kernel's buffer"),
    (Reason::FailedToParse, "failed_to_parse", "event that its writer failed to parse"),
    (Reason::BadMark, "bad_mark", "mark with missing fields, kept as text"),
    (Reason::WholeTime, "whole_time", "time without a decimal point, taken as ns"),
    (Reason::Timeless, "timeless", "clock mark without a time, placed at the start"),
];

/// How often something occurred, and where first.
#[derive(Clone, Default)]
pub struct Count {
    pub count: u64,
    /// The line of the first occurrence, from 1 in the chunk, and its beginning.
    pub line: u64,
    pub example: Vec<u8>,
}

/// The result of decoding a chunk.
#[derive(Default)]
pub struct Part {
    pub tables: Vec<(Vec<u8>, Table)>,
    pub counts: Vec<Count>,
    pub lines: u64,
    pub events: u64,
    pub blank: u64,
    pub headers: u64,
    /// The number of events according to headers.
    pub promised: u64,
    pub start: i64,
    pub last: i64,
    pub tracer: Option<Vec<u8>>,
    pub kernel: Option<Vec<u8>>,
    index: FxHashMap<Vec<u8>, usize>,
    marks: [Option<usize>; 26],
    recent: usize,
    hints: Arc<Hints>,
    /// The table with a stack as its last row, while lines of it may follow, and its frames, leaf first.
    stack: Option<usize>,
    frames: Vec<Vec<u8>>,
}

impl Part {
    pub fn new(hints: &Arc<Hints>) -> Part {
        Part {
            counts: vec![Count::default(); REASONS.len()],
            start: i64::MAX,
            last: i64::MIN,
            marks: [None; 26],
            hints: Arc::clone(hints),
            ..Part::default()
        }
    }

    /// Read whole lines.
    pub fn decode(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            self.lines += 1;
            self.line(line.strip_suffix(b"\r").unwrap_or(line));
        }
    }

    /// Count a line that is too long to be read.
    pub fn long_line(&mut self, head: &[u8]) {
        self.end_stack();
        self.lines += 1;
        self.count(Reason::TooLong, 1, head);
    }

    fn count(&mut self, reason: Reason, count: u64, line: &[u8]) {
        let entry = &mut self.counts[reason as usize];
        if entry.count == 0 {
            entry.line = self.lines;
            entry.example = line[..line.len().min(EXAMPLE)].to_vec();
        }
        entry.count = entry.count.saturating_add(count);
    }

    fn line(&mut self, line: &[u8]) {
        if line.len() > LINE_LIMIT {
            return self.count(Reason::TooLong, 1, line);
        }
        let found = line::parse(line);
        if !matches!(found, Line::Other(Other::Stack)) {
            self.end_stack();
        }
        match found {
            Line::Event(prefix, text) => self.event(line, &prefix, text),
            Line::BadTime => self.count(Reason::BadTime, 1, line),
            Line::Other(other) => self.other(line, other),
        }
    }

    fn other(&mut self, line: &[u8], other: Other) {
        match other {
            Other::Unknown => return self.count(Reason::Unknown, 1, line),
            Other::Stack => return self.frame(line),
            Other::Lost(count) => self.count(Reason::Lost, count, line),
            Other::Promised { held, lost } => {
                self.promised = self.promised.saturating_add(held);
                if lost > 0 {
                    self.count(Reason::Overwritten, lost, line);
                }
            }
            Other::Header => self.header(line),
            Other::Blank => {
                self.blank += 1;
                return;
            }
        }
        self.headers += 1;
    }

    /// A line of a stack: part of the row before it, if that is a stack.
    fn frame(&mut self, line: &[u8]) {
        if self.stack.is_none() || self.frames.len() >= STACK_LIMIT {
            return self.count(Reason::Stack, 1, line);
        }
        let text = line.trim_ascii();
        let frame = line::without_address(text.strip_prefix(b"=>").unwrap_or(text).trim_ascii());
        // Reports of trace-cmd list a fixed number of callers; unused ones are zero.
        if frame != b"0x0" {
            self.frames.push(frame.to_vec());
        }
    }

    /// The stack is complete: give the row all of its lines, the outermost first.
    pub fn end_stack(&mut self) {
        let Some((_, row)) = self.stack.take().and_then(|at| self.tables.get_mut(at)) else {
            return;
        };
        if !self.frames.is_empty() {
            self.frames.reverse();
            row.put_text(b"stack", &self.frames.join(&b';'));
            self.frames.clear();
        }
        row.end();
    }

    fn header(&mut self, line: &[u8]) {
        if let Some(tracer) = line.strip_prefix(b"# tracer:") {
            self.tracer.get_or_insert_with(|| tracer.trim_ascii().to_vec());
        }
        const LATENCY: &[u8] = b" latency trace v";
        if let Some(at) = memchr::memmem::find(line, LATENCY) {
            let kernel = memchr::memmem::find(&line[at..], b" on ").map(|on| line[at + on + 4..].trim_ascii());
            self.kernel = self.kernel.take().or(kernel.map(<[u8]>::to_vec));
        }
    }

    fn event(&mut self, line: &[u8], prefix: &Prefix<'_>, text: &[u8]) {
        let form = match line::event(text) {
            Event::Unnamed => return self.count(Reason::Unnamed, 1, line),
            Event::Plain(name, body) if marks::is_mark(name) => {
                return self.mark(line, prefix, name, body);
            }
            Event::Plain(name, body) => {
                if body.starts_with(b"[FAILED TO PARSE]") {
                    self.count(Reason::FailedToParse, 1, line);
                }
                let table = usual_name(name);
                self.add(line, prefix, (name, table, None), |row| forms::read(row.form, body, row));
                if self.stack.is_some() && body.starts_with(b"=>") {
                    self.frame(body);
                }
                return;
            }
            Event::Enter(name, body) => (name, b"sys_enter_", Form::SyscallEnter, body),
            Event::Exit(name, body) => (name, b"sys_exit_\0", Form::SyscallExit, body),
            Event::Function(ip, parent) => {
                return self.add(line, prefix, (b"function", b"function", None), |row| {
                    row.put(b"ip", ip);
                    row.put(b"parent_ip", parent);
                });
            }
        };
        let (name, head, form, body) = form;
        let head = head.strip_suffix(b"\0").unwrap_or(head);
        let table = [head, name.strip_prefix(b"sys_").unwrap_or(name)].concat();
        self.add(line, prefix, (name, &table, Some(form)), |row| forms::read(form, body, row));
    }

    fn mark(&mut self, line: &[u8], prefix: &Prefix<'_>, name: &[u8], body: &[u8]) {
        let mark = marks::strip(name, body);
        let name = marks::printed(name);
        match marks::kind(mark.text) {
            Kind::Letter(letter) => {
                if let Some(fields) = marks::split(letter, mark.text) {
                    let slot = usize::from(letter - b'A');
                    let table = [b'p', b'r', b'i', b'n', b't', b'|', letter];
                    let found = self.marks[slot].or_else(|| self.table(&table, None));
                    self.marks[slot] = found;
                    return self.add_to(line, found, prefix, name, |row| fields.put(row));
                }
                self.count(Reason::BadMark, 1, line);
            }
            Kind::ClockSync => {
                let mut prefix = *prefix;
                if prefix.ts == 0 {
                    prefix.ts = TIMELESS;
                    self.count(Reason::Timeless, 1, line);
                }
                let table = b"print|trace_event_clock_sync";
                return self.add(line, &prefix, (name, table, None), |row| marks::clock_sync(mark.text, row));
            }
            Kind::Free => {}
        }
        self.add(line, prefix, (name, b"print", Some(Form::FreeText)), |row| {
            if let Some(ip) = mark.ip {
                row.put_text(b"ip", ip);
            }
            row.free(mark.text);
        });
    }

    /// Add a row to the table of an event: its name as printed, its table, and its format if the name does not
    /// determine it.
    fn add(
        &mut self,
        line: &[u8],
        prefix: &Prefix<'_>,
        (printed, table, form): (&[u8], &[u8], Option<Form>),
        fill: impl FnOnce(&mut Table),
    ) {
        let found = match self.tables.get(self.recent) {
            Some((name, _)) if name == table => Some(self.recent),
            _ => self.table(table, form),
        };
        self.add_to(line, found, prefix, printed, fill);
    }

    fn add_to(
        &mut self,
        line: &[u8],
        table: Option<usize>,
        prefix: &Prefix<'_>,
        printed: &[u8],
        fill: impl FnOnce(&mut Table),
    ) {
        let Some(table) = table else {
            return self.count(Reason::TooManyEvents, 1, line);
        };
        if prefix.whole {
            self.count(Reason::WholeTime, 1, line);
        }
        if prefix.ts != TIMELESS {
            self.start = self.start.min(prefix.ts);
            self.last = self.last.max(prefix.ts);
        }
        self.events += 1;
        self.recent = table;
        let row = &mut self.tables[table].1;
        row.begin(prefix, printed, self.lines);
        fill(row);
        if let Some(buffer) = prefix.buffer {
            row.put_text(b"buffer", buffer);
        }
        if row.is_stack {
            self.stack = Some(table);
        } else {
            row.end();
        }
    }

    fn table(&mut self, name: &[u8], form: Option<Form>) -> Option<usize> {
        if let Some(&found) = self.index.get(name) {
            return Some(found);
        }
        if self.tables.len() >= TABLE_LIMIT {
            return None;
        }
        let table = Table::new(name, form, self.hints.get(name));
        self.tables.push((name.to_vec(), table));
        self.index.insert(name.to_vec(), self.tables.len() - 1);
        Some(self.tables.len() - 1)
    }
}
