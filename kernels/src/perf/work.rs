//! Convert records in time order into rows, and update the state: mappings, thread names, kernel symbols.

use std::sync::Arc;

use super::attr::Events;
use super::maps::{Maps, Mode};
use super::metadata::Metadata;
use super::sample::{self, Origin};
use super::samples::Samples;
use super::stream::{Head, kind};
use super::tables::{Field, Value, put};
use super::threads::Threads;
use super::tracing;
use crate::input::bytes::{Bytes, until_zero};
use crate::rows::{Notes, Sink};
use crate::tracepoints::Tracepoints;

const MISC_EXEC: u16 = 1 << 13;
const MISC_BUILD_ID: u16 = 1 << 14;
const MISC_OUT: u16 = 1 << 13;
const MISC_OUT_PREEMPT: u16 = 1 << 14;

/// The state for decoding records.
pub struct Work {
    pub big: bool,
    pub events: Events,
    pub metadata: Metadata,
    pub maps: Maps,
    pub threads: Threads,
    pub notes: Notes,
    pub samples: Samples,
    pub tracepoints: Option<Tracepoints>,
    /// The time for rows of records without one.
    pub now: i64,
    /// The earliest time of a row.
    pub first: Option<i64>,
}

/// A record with its origin.
#[derive(Clone, Copy)]
pub struct Row {
    pub ts: i64,
    pub line: i64,
    pub misc: u16,
    pub origin: Origin,
}

impl Work {
    /// Make rows of a record of the kernel.
    pub fn record(&mut self, record: &[u8], time: Option<i64>, line: u64, event: usize, sink: &mut Sink) {
        let Some(head) = Head::read(record, self.big) else {
            return;
        };
        let body = record.get(8..).unwrap_or_default();
        let ts = time.unwrap_or(self.now);
        self.now = ts;
        self.first = Some(self.first.map_or(ts, |first| first.min(ts)));
        let line = i64::try_from(line).unwrap_or(i64::MAX);
        if head.kind == kind::SAMPLE {
            return self.sample(body, (ts, line), head.misc, event, sink);
        }
        let Some(attr) = self.events.get(event).map(|event| &event.attr) else {
            return;
        };
        let (origin, body) = sample::split_origin(body, attr, self.big);
        let row = Row { ts, line, misc: head.misc, origin };
        let read_format = attr.read_format;
        let at = Bytes::new(body, self.big);
        if self.other(head.kind, at, row, read_format, sink).is_none() {
            let reason = "record is shorter than its kind";
            self.notes.add(reason, 1, false, || format!("record {line}, kind {}", head.kind));
        }
    }

    fn other(&mut self, kind: u32, at: Bytes<'_>, row: Row, read_format: u64, sink: &mut Sink) -> Option<()> {
        match kind {
            kind::MMAP | kind::MMAP2 => self.mapping(at, row, kind == kind::MMAP2, sink),
            kind::COMM => self.comm(at, row, sink),
            kind::FORK | kind::EXIT => self.task(at, row, kind == kind::FORK, sink),
            kind::LOST | kind::LOST_SAMPLES => self.lost(at, row, kind == kind::LOST, sink),
            kind::KSYMBOL => self.symbol(at, row, sink),
            kind::SWITCH => switch(None, row, sink),
            kind::SWITCH_CPU_WIDE => {
                let mut at = at;
                switch(Some((at.id()?, at.id()?)), row, sink)
            }
            kind::THROTTLE => self.throttle("raw_events.throttle", at, row, sink),
            kind::UNTHROTTLE => self.throttle("raw_events.unthrottle", at, row, sink),
            kind::READ => self.read(at, row, read_format, sink),
            kind::NAMESPACES => namespaces(at, row, sink),
            _ => super::other::record(kind, at, row, sink),
        }
    }

    fn mapping(&mut self, mut at: Bytes<'_>, row: Row, second: bool, sink: &mut Sink) -> Option<()> {
        let (pid, tid) = (at.id()?, at.id()?);
        let (start, len, offset) = (at.u64()?, at.u64()?, at.u64()?);
        let mut build_id = None;
        let mut protection = None;
        if second {
            let id = at.take(24)?;
            if row.misc & MISC_BUILD_ID != 0 {
                let size = usize::from(*id.first()?).min(20);
                let id = id.get(4..4 + size)?;
                build_id = Some(id.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            }
            protection = Some(protection_text(at.u32()?));
            at.skip(4)?;
        }
        let file = until_zero(at.rest());
        let mode = Mode::of_misc(row.misc);
        let kernel = mode == Mode::Kernel;
        if matches!(mode, Mode::Kernel | Mode::User | Mode::Unknown) {
            self.maps.map(pid, kernel, (start, len), offset, file);
        }
        let mut fields = common(row, Some(pid), Some(tid));
        fields.extend([
            ("addr", "", Value::Uint(Some(start))),
            ("len", "B", Value::Uint(Some(len))),
            ("pgoff", "", Value::Uint(Some(offset))),
            ("filename", "", Value::Text(Some(file))),
            ("protection", "", Value::Text(protection.as_ref().map(|p| &p[..]))),
            ("build_id", "", Value::Text(build_id.as_ref().map(|id| id.as_bytes()))),
        ]);
        put(sink, "raw_events.mmap", &fields);
        Some(())
    }

    fn comm(&mut self, mut at: Bytes<'_>, row: Row, sink: &mut Sink) -> Option<()> {
        let (pid, tid) = (at.id()?, at.id()?);
        let name = until_zero(at.rest());
        let exec = row.misc & MISC_EXEC != 0;
        if exec {
            self.maps.forget(pid);
        }
        self.threads.rename(pid, tid, name, sink);
        let mut fields = common(row, Some(pid), Some(tid));
        fields.extend([("comm", "", Value::Text(Some(name))), ("exec", "", Value::Bool(exec))]);
        put(sink, "raw_events.comm", &fields);
        Some(())
    }

    fn task(&mut self, mut at: Bytes<'_>, row: Row, fork: bool, sink: &mut Sink) -> Option<()> {
        let (pid, parent_pid) = (at.id()?, at.id()?);
        let (tid, parent_tid) = (at.id()?, at.id()?);
        if fork {
            if pid != parent_pid {
                self.maps.fork(parent_pid, pid);
            }
            self.threads.fork(parent_tid, (pid, tid), sink);
        } else {
            self.threads.end(tid, sink);
            if pid == tid {
                self.maps.end(pid);
            }
        }
        let mut fields = common(row, Some(pid), Some(tid));
        fields.extend([("ppid", "", Value::Int(Some(parent_pid))), ("ptid", "", Value::Int(Some(parent_tid)))]);
        let table = if fork { "raw_events.fork" } else { "raw_events.exit" };
        put(sink, table, &fields);
        Some(())
    }

    fn lost(&mut self, mut at: Bytes<'_>, row: Row, events: bool, sink: &mut Sink) -> Option<()> {
        let id = if events { Some(at.u64()?) } else { row.origin.id };
        let lost = at.u64()?;
        let (table, reason) = match events {
            true => ("raw_events.lost", "events lost by the kernel"),
            false => ("raw_events.lost_samples", "samples lost by the kernel"),
        };
        self.notes.add(reason, lost, false, || format!("record {}", row.line));
        let name = id.and_then(|id| self.events.place(id));
        let name = name.map(|place| self.event_name(place));
        let mut fields = common(row, row.origin.pid, row.origin.tid);
        fields.extend([
            ("of_event", "", Value::Text(name.as_ref().map(|name| name.as_bytes()))),
            ("lost", "", Value::Uint(Some(lost))),
        ]);
        put(sink, table, &fields);
        Some(())
    }

    fn symbol(&mut self, mut at: Bytes<'_>, row: Row, sink: &mut Sink) -> Option<()> {
        const GONE: u16 = 1;
        let (addr, len) = (at.u64()?, at.u32()?);
        let (of, flags) = (at.u16()?, at.u16()?);
        let name = until_zero(at.rest());
        let gone = flags & GONE != 0;
        self.maps.symbol((addr, u64::from(len)), name, gone);
        let mut fields = common(row, row.origin.pid, row.origin.tid);
        fields.extend([
            ("addr", "", Value::Uint(Some(addr))),
            ("len", "B", Value::Uint(Some(u64::from(len)))),
            ("type", "", Value::Int(Some(i64::from(of)))),
            ("gone", "", Value::Bool(gone)),
            ("name", "", Value::Text(Some(name))),
        ]);
        put(sink, "raw_events.ksymbol", &fields);
        Some(())
    }

    fn throttle(&mut self, table: &str, mut at: Bytes<'_>, row: Row, sink: &mut Sink) -> Option<()> {
        at.skip(8)?;
        let id = at.u64()?;
        let name = self.events.place(id).map(|place| self.event_name(place));
        let mut fields = common(row, row.origin.pid, row.origin.tid);
        fields.push(("of_event", "", Value::Text(name.as_ref().map(|name| name.as_bytes()))));
        put(sink, table, &fields);
        Some(())
    }

    fn read(&mut self, mut at: Bytes<'_>, row: Row, format: u64, sink: &mut Sink) -> Option<()> {
        let (pid, tid) = (at.id()?, at.id()?);
        for (id, value) in sample::read_values(&mut at, format)? {
            let place = id.and_then(|id| self.events.place(id));
            let name = place.map(|place| self.event_name(place));
            let mut fields = common(row, Some(pid), Some(tid));
            fields.extend([
                ("of_event", "", Value::Text(name.as_ref().map(|name| name.as_bytes()))),
                ("value", "", Value::Uint(Some(value))),
            ]);
            put(sink, "raw_events.read", &fields);
        }
        Some(())
    }

    /// Add the formats of tracepoints in the metadata.
    pub fn learn_formats(&mut self) {
        let bytes = std::mem::take(&mut self.metadata.tracing);
        if bytes.is_empty() {
            return;
        }
        let mut whole = false;
        let found = tracing::read(&bytes, &mut whole);
        if !whole {
            self.notes.cut("formats of tracepoints are damaged");
        }
        let Some(found) = found else {
            return;
        };
        self.metadata.tracepoints.extend(found.names);
        self.tracepoints = Some(found.tracepoints);
        if let Some(functions) = found.functions {
            self.maps.set_functions(functions);
        }
        self.samples.renew();
    }

    /// The name of an event.
    pub fn event_name(&mut self, place: usize) -> Arc<str> {
        self.samples.name(place, &self.events, &self.metadata)
    }
}

/// The first columns of all tables except that of samples.
pub fn common<'a>(row: Row, pid: Option<i64>, tid: Option<i64>) -> Vec<Field<'a>> {
    vec![
        ("_ts", "ns", Value::Int(Some(row.ts))),
        ("cpu", "", Value::Int(row.origin.cpu)),
        ("pid", "", Value::Int(pid)),
        ("tid", "", Value::Int(tid)),
        ("line", "", Value::Int(Some(row.line))),
    ]
}

/// `rwx` of a mapping.
fn protection_text(bits: u32) -> [u8; 3] {
    let flag = |bit: u32, letter: u8| if bits & bit != 0 { letter } else { b'-' };
    [flag(1, b'r'), flag(2, b'w'), flag(4, b'x')]
}

fn switch(other: Option<(i64, i64)>, row: Row, sink: &mut Sink) -> Option<()> {
    let mut fields = common(row, row.origin.pid, row.origin.tid);
    fields.extend([
        ("out", "", Value::Bool(row.misc & MISC_OUT != 0)),
        ("preempted", "", Value::Bool(row.misc & MISC_OUT_PREEMPT != 0)),
        ("other_pid", "", Value::Int(other.map(|other| other.0))),
        ("other_tid", "", Value::Int(other.map(|other| other.1))),
    ]);
    put(sink, "raw_events.switch", &fields);
    Some(())
}

fn namespaces(mut at: Bytes<'_>, row: Row, sink: &mut Sink) -> Option<()> {
    const NAMES: [&str; 7] = ["net", "uts", "ipc", "pid_ns", "user", "mnt", "cgroup"];
    let (pid, tid) = (at.id()?, at.id()?);
    let count = at.u64()?;
    let mut fields = common(row, Some(pid), Some(tid));
    for name in NAMES.into_iter().take(usize::try_from(count).ok()?) {
        at.skip(8)?;
        fields.push((name, "", Value::Uint(Some(at.u64()?))));
    }
    put(sink, "raw_events.namespaces", &fields);
    Some(())
}
