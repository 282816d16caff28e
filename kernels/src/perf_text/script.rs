//! Parse the text of `perf script` into rows: samples with the stacks below them, tracepoints, other records, metadata.

use std::collections::BTreeMap;

use super::line::{self, Head};
use super::lines::{Lines, Next};
use super::payload::{Payloads, Row};
use crate::perf::tables::{Value, put};
use crate::rows::{Decode, Failure, Learnt, Place, Sink, TextRead};

/// Maximum frames of a stack.
const DEPTH: usize = 1024;
/// Maximum records without a time that wait for the first time.
const TIMELESS: usize = 1 << 16;
/// Maximum number of named threads.
const THREADS: usize = 1 << 20;

/// A sample whose call chain may follow.
#[derive(Default)]
struct Sample {
    line: u64,
    head: Vec<u8>,
    /// Names of frames, leaf first, and the end of each in it.
    frames: Vec<u8>,
    ends: Vec<usize>,
    ip: Option<u64>,
}

/// Files of `perf script` text.
#[derive(Default)]
pub struct Script {
    lines: Lines,
    pending: Option<Sample>,
    spare: Sample,
    stack: Vec<u8>,
    payloads: Payloads,
    metadata: Vec<(String, String)>,
    threads: BTreeMap<(i64, i64), Vec<u8>>,
    /// The first valid time, and the records before it without one, with their lines.
    start: Option<i64>,
    timeless: Vec<(i64, Vec<u8>)>,
    /// Whether samples have been read without their times, which `-F` left out.
    untimed: bool,
    ended: bool,
}

impl Script {
    pub fn new(lines: Lines) -> Script {
        Script { lines, ..Script::default() }
    }

    fn line(&mut self, sink: &mut Sink) {
        let text = self.lines.text();
        if text.trim_ascii().is_empty() {
            return self.flush(sink);
        }
        if text.first() == Some(&b'#') {
            let text = text.to_vec();
            return self.fact(&text);
        }
        let in_chain = self.pending.is_some();
        if in_chain && text.first() == Some(&b'\t') && self.frame() {
            return;
        }
        if line::head(self.lines.text()).is_some() || self.is_untimed() {
            self.flush(sink);
            let mut sample = std::mem::take(&mut self.spare);
            sample.line = self.lines.number;
            sample.head.clear();
            sample.head.extend_from_slice(self.lines.text());
            sample.frames.clear();
            sample.ends.clear();
            sample.ip = None;
            self.pending = Some(sample);
            return;
        }
        if in_chain && self.frame() {
            return;
        }
        let text = self.lines.text().to_vec();
        match in_chain && text.first().is_some_and(u8::is_ascii_whitespace) {
            true => self.lines.note("line below a frame, not kept", false, &text),
            false => self.lines.unread("line is not an event", false, &text),
        }
    }

    /// Whether the line is the head of a sample without a time, after the frames of the sample before it.
    fn is_untimed(&mut self) -> bool {
        let begins = self.pending.as_ref().is_none_or(|sample| sample.ends.is_empty());
        if !begins || self.start.is_some() || line::untimed(self.lines.text()).is_none() {
            return false;
        }
        let text = self.lines.text().to_vec();
        self.lines.note("sample without a time, placed at 0", false, &text);
        self.untimed = true;
        true
    }

    /// Parse the line as a frame of the sample before; false if it is not a frame.
    fn frame(&mut self) -> bool {
        let Some(frame) = line::frame(self.lines.text()) else {
            return false;
        };
        let Some(sample) = &mut self.pending else {
            return false;
        };
        sample.ip = sample.ip.or(Some(frame.ip));
        if sample.ends.len() < DEPTH {
            // `;` separates the frames of a stack.
            let clean = frame.symbol.iter().map(|b| if *b == b';' { b':' } else { *b });
            sample.frames.extend(clean);
            sample.ends.push(sample.frames.len());
        } else {
            let text = self.lines.text().to_vec();
            self.lines.note("frame beyond the 1024 of a stack that are kept", false, &text);
        }
        true
    }

    /// Make a row of the complete sample.
    fn flush(&mut self, sink: &mut Sink) {
        let Some(sample) = self.pending.take() else {
            return;
        };
        if let Some(head) = line::head(&sample.head).or_else(|| line::untimed(&sample.head)) {
            self.name(&head);
            stack_of(&sample, &mut self.stack);
            self.row(&sample, head, sink);
        }
        self.spare = sample;
    }

    fn row(&mut self, sample: &Sample, head: Head<'_>, sink: &mut Sink) {
        let ts = head.ts.unwrap_or(0);
        let line = i64::try_from(sample.line).unwrap_or(i64::MAX);
        if head.event.starts_with(b"PERF_RECORD_") {
            if ts == 0 {
                return self.without_time(&sample.head, line);
            }
            self.begin(ts, sink);
            return record(head, ts, line, sink);
        }
        if head.ts.is_some() {
            self.begin(ts, sink);
        }
        let stack = Some(self.stack.as_slice()).filter(|stack| !stack.is_empty());
        if let Some((_, name)) = line::tracepoint(head.event) {
            let row = Row { head, ts, line, stack, flags: None };
            if self.payloads.row(name, row, sink) {
                return;
            }
            let text = sample.head.clone();
            let reason = "tracepoint beyond the 4096 that get tables, kept as a sample";
            self.lines.note(reason, false, &text);
        }
        let (text, here) = match sample.ends.is_empty() {
            true => line::sampled(head.rest),
            false => (head.rest.trim_ascii(), None),
        };
        let ip = sample.ip.or(here.as_ref().map(|frame| frame.ip));
        let stack = stack.or(here.as_ref().map(|frame| frame.symbol));
        let text = Some(text).filter(|text| !text.is_empty());
        let fields = [
            ("_ts", "ns", Value::Int(Some(ts))),
            ("event", "", Value::Text(non_empty(head.event))),
            ("pid", "", Value::Int(head.pid)),
            ("tid", "", Value::Int(head.tid)),
            ("cpu", "", Value::Int(head.cpu)),
            ("comm", "", Value::Text(non_empty(head.comm))),
            ("period", "", Value::Uint(head.period)),
            ("ip", "", Value::Uint(ip)),
            ("stack", "", Value::Text(stack)),
            ("line", "", Value::Int(Some(line))),
            ("text", "", Value::Text(text)),
        ];
        put(sink, "raw_events.sample", &fields);
    }

    /// Keep a record without a time, which perf synthesized for the state before its start.
    fn without_time(&mut self, head: &[u8], line: i64) {
        if self.timeless.len() < TIMELESS {
            let reason = "record without a time, placed at the start";
            self.lines.note(reason, false, head);
            self.timeless.push((line, head.to_vec()));
        } else {
            let reason = "record without a time beyond the 65536 that are kept";
            self.lines.unread(reason, true, head);
        }
    }

    /// Make rows of the records that waited for a time.
    fn begin(&mut self, ts: i64, sink: &mut Sink) {
        let start = *self.start.get_or_insert(ts);
        for (line, text) in std::mem::take(&mut self.timeless) {
            if let Some(head) = line::head(&text) {
                record(head, start, line, sink);
            }
        }
    }

    /// Record the name of a thread.
    fn name(&mut self, head: &Head<'_>) {
        let Some(tid) = head.tid.filter(|_| !head.comm.is_empty()) else {
            return;
        };
        let key = (tid, head.pid.unwrap_or(i64::MIN));
        if let Some(name) = self.threads.get_mut(&key) {
            if name != head.comm {
                *name = head.comm.to_vec();
            }
        } else if self.threads.len() < THREADS {
            self.threads.insert(key, head.comm.to_vec());
        }
    }

    /// A line of the header: `# hostname : vm`.
    fn fact(&mut self, line: &[u8]) {
        const KEYS: [(&str, &str); 8] = [
            ("hostname", "host"),
            ("os release", "kernel"),
            ("perf version", "tool"),
            ("arch", "architecture"),
            ("nrcpus online", "cpus_online"),
            ("nrcpus avail", "cpus"),
            ("cpudesc", "cpu_model"),
            ("cmdline", "command"),
        ];
        let text = String::from_utf8_lossy(line);
        let Some((key, value)) = text.trim_start_matches('#').split_once(':') else {
            return;
        };
        let found = KEYS.iter().find(|(title, _)| *title == key.trim());
        if let Some((_, key)) = found
            && !self.metadata.iter().any(|(known, _)| known == key)
        {
            let value = value.trim();
            let value = match *key {
                "tool" => format!("perf {value}"),
                _ => value.to_owned(),
            };
            self.metadata.push(((*key).to_owned(), value));
        }
    }

    fn names(&mut self, sink: &mut Sink) {
        for ((tid, pid), name) in std::mem::take(&mut self.threads) {
            let pid = Some(pid).filter(|pid| *pid != i64::MIN);
            let fields = [
                ("pid", "", Value::Int(pid)),
                ("tid", "", Value::Int(Some(tid))),
                ("name", "", Value::Text(Some(&name))),
            ];
            put(sink, "thread_names", &fields);
            if pid == Some(tid) {
                let fields = [("pid", "", Value::Int(pid)), ("name", "", Value::Text(Some(&name)))];
                put(sink, "process_names", &fields);
            }
        }
    }
}

impl Decode for Script {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        let file = self.lines.file;
        let begin = self.lines.place();
        while !sink.full() && !self.ended {
            match self.lines.next()? {
                Next::Line => self.line(sink),
                Next::End => self.flush(sink),
                Next::Nothing => {
                    self.begin(0, sink);
                    self.names(sink);
                    self.ended = true;
                }
            }
        }
        let place = Place { file, begin, end: self.lines.place().max(begin) };
        Ok((sink.len() > 0).then_some(place))
    }

    fn learnt(&mut self) -> Learnt {
        let mut properties = std::mem::take(&mut self.metadata);
        let clock = if self.untimed { "none" } else { "trace" };
        properties.push(("clock".to_owned(), clock.to_owned()));
        Learnt { notes: self.lines.notes.take(), properties }
    }

    fn lines(&mut self) -> Vec<TextRead> {
        std::mem::take(&mut self.lines.read)
    }
}

/// A field that `-F` may leave out.
fn non_empty(text: &[u8]) -> Option<&[u8]> {
    Some(text).filter(|text| !text.is_empty())
}

/// Frames root first, with `;` between them.
fn stack_of(sample: &Sample, stack: &mut Vec<u8>) {
    stack.clear();
    for (place, end) in sample.ends.iter().enumerate().rev() {
        let start = match place.checked_sub(1) {
            Some(before) => sample.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        if !stack.is_empty() {
            stack.push(b';');
        }
        stack.extend_from_slice(sample.frames.get(start..*end).unwrap_or_default());
    }
}

/// A record that is not a sample, shown with options of `perf script`.
fn record(head: Head<'_>, ts: i64, line: i64, sink: &mut Sink) {
    let event = head.event.strip_prefix(b"PERF_RECORD_");
    let event = event.unwrap_or(head.event).to_ascii_lowercase();
    let fields = [
        ("_ts", "ns", Value::Int(Some(ts))),
        ("event", "", Value::Text(Some(&event))),
        ("pid", "", Value::Int(head.pid)),
        ("tid", "", Value::Int(head.tid)),
        ("cpu", "", Value::Int(head.cpu)),
        ("comm", "", Value::Text(non_empty(head.comm))),
        ("line", "", Value::Int(Some(line))),
        ("text", "", Value::Text(Some(head.rest.trim_ascii()))),
    ];
    put(sink, "raw_events.record", &fields);
}
