//! Write rows as packets of Perfetto traces.

use arrow_array::Array;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashSet;

use super::frame::{self, TraceMetadata};
use super::kernel::{Described as KernelEvent, KernelEvents, flags};
use super::message::Message;
use super::rows::{Rows, int, text, wrong};
use crate::exchange::InputBatch;
use crate::json::{Scanner, Token};

/// Numbers of fields in the public schema.
mod field {
    pub const PACKET: u32 = 1;
    pub mod packet {
        pub const FTRACE: u32 = 1;
        pub const TIMESTAMP: u32 = 8;
        pub const SEQUENCE: u32 = 10;
        pub const EVENT: u32 = 11;
        pub const DESCRIPTOR: u32 = 60;
    }
    pub mod bundle {
        pub const CPU: u32 = 1;
        pub const EVENT: u32 = 2;
    }
    pub mod ftrace {
        pub const TIMESTAMP: u32 = 1;
        pub const PID: u32 = 2;
        pub const FLAGS: u32 = 5;
    }
    pub mod legacy {
        pub const PHASE: u32 = 2;
        pub const ID: u32 = 6;
        pub const ENCLOSING: u32 = 12;
    }
    pub mod event {
        pub const ANNOTATION: u32 = 4;
        pub const LEGACY: u32 = 6;
        pub const TYPE: u32 = 9;
        pub const TRACK: u32 = 11;
        pub const CATEGORY: u32 = 22;
        pub const NAME: u32 = 23;
        pub const DOUBLE: u32 = 44;
        pub const FLOWS: u32 = 47;
        pub const LAST_FLOWS: u32 = 48;
    }
    pub mod annotation {
        pub const BOOL: u32 = 2;
        pub const UINT: u32 = 3;
        pub const INT: u32 = 4;
        pub const DOUBLE: u32 = 5;
        pub const TEXT: u32 = 6;
        pub const JSON: u32 = 9;
        pub const NAME: u32 = 10;
    }
    pub mod track {
        pub const UUID: u32 = 1;
        pub const NAME: u32 = 2;
        pub const PROCESS: u32 = 3;
        pub const THREAD: u32 = 4;
        pub const PARENT: u32 = 5;
        pub const COUNTER: u32 = 8;
    }
    pub mod process {
        pub const PID: u32 = 1;
        pub const ORDER: u32 = 3;
        pub const NAME: u32 = 6;
        pub const LABELS: u32 = 8;
    }
    pub mod thread {
        pub const PID: u32 = 1;
        pub const TID: u32 = 2;
        pub const ORDER: u32 = 3;
        pub const NAME: u32 = 5;
    }
    pub mod counter {
        pub const UNIT: u32 = 6;
    }
}

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// All packets belong to one sequence.
const SEQUENCE: u64 = 1;
/// Lanes of a track, and processes, have numbers far from those of tracks.
const LANE: u64 = 1 << 40;
const PROCESS: u64 = 1 << 62;

/// The track of a number.
fn uuid(track: i64, lane: i64) -> u64 {
    (track.cast_unsigned() & (LANE - 1)).wrapping_add(1).wrapping_add(lane.cast_unsigned().wrapping_mul(LANE))
}

/// A slice whose end is not written; one that never ends has the end `i64::MAX`.
struct Open {
    id: Option<i64>,
    end: i64,
}

/// A writer of batches of rows as packets of Perfetto traces; times are ns relative to `start`, which is added to them.
#[pyclass]
pub struct PerfettoExport {
    metadata: TraceMetadata,
    kernel: KernelEvents,
    /// The track and lane of the current slices, and the open ones.
    current: Option<(i64, i64)>,
    open: Vec<Open>,
    lanes: FxHashSet<(i64, i64)>,
}

/// A process: number, name, sort order, and labels.
type Process = (i64, Option<String>, Option<i64>, Option<String>);

/// One row of a track's description: number, kind, name, process, thread, unit, parent track, sort order.
type Described = (i64, String, Option<String>, Option<i64>, Option<i64>, Option<String>, Option<i64>, Option<i64>);

fn packet(out: &mut Vec<u8>, packet: &Message) {
    let mut message = Message(std::mem::take(out));
    message.bytes(field::PACKET, &packet.0);
    *out = message.0;
}

fn annotations(event: &mut Message, args: &str) {
    let mut scanner = Scanner::new(args.as_bytes());
    if args.is_empty() || scanner.next() != b'{' {
        return;
    }
    let mut name = String::new();
    let mut stack = Vec::new();
    loop {
        let mut byte = scanner.next();
        if byte == b',' {
            byte = scanner.next();
        }
        if byte != b'"' {
            return;
        }
        let Ok(key) = scanner.string() else { return };
        name.clear();
        name.push_str(&unescaped(key.span.of(args.as_bytes()), key.escaped));
        if scanner.next() != b':' {
            return;
        }
        let Ok(value) = scanner.value(&mut stack) else {
            return;
        };
        event.bytes(field::event::ANNOTATION, &annotation(&name, &value, args.as_bytes()).0);
    }
}

fn annotation(name: &str, value: &Token, line: &[u8]) -> Message {
    let mut one = Message::default();
    one.bytes(field::annotation::NAME, name.as_bytes());
    match value {
        Token::Absent | Token::Null => one.bytes(field::annotation::JSON, b"null"),
        Token::Bool(value) => one.varint(field::annotation::BOOL, u64::from(*value)),
        Token::Int(value) => one.varint(field::annotation::INT, value.cast_unsigned()),
        Token::Uint(value) => one.varint(field::annotation::UINT, *value),
        Token::Float(span) => {
            let text = std::str::from_utf8(span.of(line)).unwrap_or_default();
            match text.parse() {
                Ok(value) => one.double(field::annotation::DOUBLE, value),
                Err(_) => one.bytes(field::annotation::TEXT, text.as_bytes()),
            }
        }
        Token::Text(text) => {
            let text = unescaped(text.span.of(line), text.escaped);
            one.bytes(field::annotation::TEXT, text.as_bytes());
        }
        Token::Huge(span) | Token::Nested(span) => one.bytes(field::annotation::JSON, span.of(line)),
    }
    one
}

fn unescaped(raw: &[u8], escaped: bool) -> String {
    let mut text = Vec::new();
    if escaped {
        crate::json::unescape(raw, &mut text);
    } else {
        text.extend_from_slice(raw);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn bundled(out: &mut Vec<u8>, cpu: i64, events: Message) {
    let mut bundle = events;
    bundle.int(field::bundle::CPU, cpu);
    let mut message = Message::default();
    message.varint(field::packet::SEQUENCE, SEQUENCE);
    message.message(field::packet::FTRACE, &bundle);
    packet(out, &message);
}

impl PerfettoExport {
    fn event(&self, out: &mut Vec<u8>, ts: i64, event: &Message) {
        let mut message = Message::default();
        let time = ts.saturating_add(self.metadata.start).max(0);
        message.varint(field::packet::TIMESTAMP, time.cast_unsigned());
        message.varint(field::packet::SEQUENCE, SEQUENCE);
        message.bytes(field::packet::EVENT, &event.0);
        packet(out, &message);
    }

    fn mark(&self, out: &mut Vec<u8>, ts: i64, kind: u64, track: u64, rest: impl FnOnce(&mut Message)) {
        let mut event = Message::default();
        event.varint(field::event::TYPE, kind);
        event.varint(field::event::TRACK, track);
        rest(&mut event);
        self.event(out, ts, &event);
    }

    /// End the open slices up to a time, but for one and those around it.
    ///
    /// Slices without length that begin and end at one time may lie in each other.
    fn close(&mut self, out: &mut Vec<u8>, until: i64, around: Option<i64>) {
        let Some((track, lane)) = self.current else {
            return;
        };
        let stays = around.and_then(|id| self.open.iter().rposition(|one| one.id == Some(id)));
        let stays = stays.map_or(0, |place| place + 1);
        while self.open.len() > stays && self.open.last().is_some_and(|one| one.end <= until) {
            if let Some(one) = self.open.pop() {
                self.mark(out, one.end, END, uuid(track, lane), |_| ());
            }
        }
    }

    /// End all slices of the current track and lane that have an end.
    fn close_all(&mut self, out: &mut Vec<u8>) {
        self.open.retain(|one| one.end < i64::MAX);
        self.close(out, i64::MAX - 1, None);
    }

    fn turn(&mut self, out: &mut Vec<u8>, place: (i64, i64)) {
        if self.current == Some(place) {
            return;
        }
        self.close_all(out);
        self.current = Some(place);
        if place.1 != 0 && self.lanes.insert(place) {
            let mut track = Message::default();
            track.varint(field::track::UUID, uuid(place.0, place.1));
            track.varint(field::track::PARENT, uuid(place.0, 0));
            track.bytes(field::track::NAME, format!("lane {}", place.1).as_bytes());
            let mut message = Message::default();
            message.bytes(field::packet::DESCRIPTOR, &track.0);
            packet(out, &message);
        }
    }

    fn write_slices(&mut self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, dur, track) = (rows.ints("_ts")?, rows.ints("_duration")?, rows.ints("track")?);
        let (name, category, args) = (rows.texts("name")?, rows.texts("category")?, rows.texts("args")?);
        let (lane, id, parent) = (rows.ints("lane")?, rows.ints("id")?, rows.ints("parent_id")?);
        let (leaving, arriving) = (rows.texts("leaving")?, rows.texts("arriving")?);
        let mut out = Vec::with_capacity(rows.len() * 96);
        for row in 0..rows.len() {
            let (Some(at), Some(number)) = (int(&ts, row), int(&track, row)) else {
                continue;
            };
            let place = (number, int(&lane, row).unwrap_or(0));
            self.turn(&mut out, place);
            self.close(&mut out, at, int(&parent, row));
            self.mark(&mut out, at, BEGIN, uuid(place.0, place.1), |event| {
                event.bytes(field::event::NAME, text(&name, row).as_bytes());
                if category.is_valid(row) {
                    event.bytes(field::event::CATEGORY, category.value(row).as_bytes());
                }
                annotations(event, text(&args, row));
                arrows(event, field::event::FLOWS, text(&leaving, row));
                arrows(event, field::event::LAST_FLOWS, text(&arriving, row));
            });
            let end = int(&dur, row).map_or(i64::MAX, |length| at.saturating_add(length));
            self.open.push(Open { id: int(&id, row), end });
        }
        Ok(out)
    }

    /// Consecutive events of one CPU share a packet, so that they keep their order.
    fn write_kernel(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let columns = self.kernel.columns(rows)?;
        let kernel = self.kernel.rows(&columns);
        let mut out = Vec::with_capacity(rows.len() * 96);
        let mut bundle: Option<(i64, Message)> = None;
        for row in 0..rows.len() {
            let (Some(at), Some(cpu)) = (int(&columns.ts, row), int(&columns.cpu, row)) else {
                continue;
            };
            let Some((number, inner)) = kernel.message(columns.event.value(row), row) else {
                continue;
            };
            let mut event = Message::default();
            let time = at.saturating_add(self.metadata.start).max(0);
            event.varint(field::ftrace::TIMESTAMP, time.cast_unsigned());
            if let Some(tid) = int(&columns.tid, row) {
                event.int(field::ftrace::PID, tid);
            }
            event.message(number, &inner);
            if let Some(flags) = columns.flags.is_valid(row).then(|| flags(columns.flags.value(row))) {
                event.varint(field::ftrace::FLAGS, flags.unwrap_or(0));
            }
            if bundle.as_ref().is_none_or(|(of, _)| *of != cpu)
                && let Some((cpu, message)) = bundle.replace((cpu, Message::default()))
            {
                bundled(&mut out, cpu, message);
            }
            if let Some((_, message)) = &mut bundle {
                message.message(field::bundle::EVENT, &event);
            }
        }
        if let Some((cpu, message)) = bundle {
            bundled(&mut out, cpu, message);
        }
        Ok(out)
    }

    fn write_flows(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let arrow = rows.ints("arrow")?;
        let (name, category) = (rows.texts("name")?, rows.texts("category")?);
        let mut out = Vec::with_capacity(rows.len() * 96);
        for (end, phase) in [("from", b's'), ("to", b'f')] {
            let ts = rows.ints(&format!("{end}_ts"))?;
            let track = rows.ints(&format!("{end}_track"))?;
            let lane = rows.ints(&format!("{end}_lane"))?;
            let inside = rows.ints(&format!("{end}_inside"))?;
            for row in 0..rows.len() {
                let (Some(at), Some(number)) = (int(&ts, row), int(&track, row)) else {
                    continue;
                };
                let mut legacy = Message::default();
                legacy.varint(field::legacy::PHASE, u64::from(phase));
                let id = int(&arrow, row).unwrap_or(0);
                legacy.int(field::legacy::ID, id);
                if phase == b'f' && int(&inside, row) == Some(1) {
                    legacy.varint(field::legacy::ENCLOSING, 1);
                }
                let mut event = Message::default();
                let place = uuid(number, int(&lane, row).unwrap_or(0));
                event.varint(field::event::TRACK, place);
                event.bytes(field::event::NAME, text(&name, row).as_bytes());
                if category.is_valid(row) {
                    event.bytes(field::event::CATEGORY, category.value(row).as_bytes());
                }
                event.message(field::event::LEGACY, &legacy);
                self.event(&mut out, at, &event);
            }
        }
        Ok(out)
    }

    fn write_counters(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, track, value) = (rows.ints("_ts")?, rows.ints("track")?, rows.floats("value")?);
        let mut out = Vec::with_capacity(rows.len() * 40);
        for row in 0..rows.len() {
            if let (Some(at), Some(number), true) = (int(&ts, row), int(&track, row), value.is_valid(row)) {
                self.mark(&mut out, at, COUNTER, uuid(number, 0), |event| {
                    event.double(field::event::DOUBLE, value.value(row));
                });
            }
        }
        Ok(out)
    }

    fn write_instants(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, track) = (rows.ints("_ts")?, rows.ints("track")?);
        let (name, category, args) = (rows.texts("name")?, rows.texts("category")?, rows.texts("args")?);
        let mut out = Vec::with_capacity(rows.len() * 64);
        for row in 0..rows.len() {
            let Some(at) = int(&ts, row) else { continue };
            let place = int(&track, row).map_or(0, |number| uuid(number, 0));
            self.mark(&mut out, at, INSTANT, place, |event| {
                event.bytes(field::event::NAME, text(&name, row).as_bytes());
                if category.is_valid(row) {
                    event.bytes(field::event::CATEGORY, category.value(row).as_bytes());
                }
                annotations(event, text(&args, row));
            });
        }
        Ok(out)
    }
}

/// The numbers of arrows, separated by commas.
fn arrows(event: &mut Message, field: u32, numbers: &str) {
    for number in numbers.split(',').filter_map(|number| number.parse().ok()) {
        event.fixed(field, number);
    }
}

fn described((track, kind, name, pid, tid, unit, parent, order): Described) -> Message {
    let mut message = Message::default();
    message.varint(field::track::UUID, uuid(track, 0));
    let named = name.as_deref().unwrap_or_default().as_bytes();
    match (kind.as_str(), pid, tid) {
        ("thread", Some(pid), Some(tid)) => {
            let mut thread = Message::default();
            thread.varint(field::thread::PID, pid.cast_unsigned());
            thread.varint(field::thread::TID, tid.cast_unsigned());
            if !named.is_empty() {
                thread.bytes(field::thread::NAME, named);
            }
            if let Some(order) = order {
                thread.int(field::thread::ORDER, order);
            }
            message.bytes(field::track::THREAD, &thread.0);
        }
        (_, pid, _) => {
            message.bytes(field::track::NAME, named);
            if let Some(parent) = parent {
                message.varint(field::track::PARENT, uuid(parent, 0));
            } else if let Some(pid) = pid {
                message.varint(field::track::PARENT, PROCESS | pid.cast_unsigned());
            }
        }
    }
    if kind == "counter" {
        let mut counter = Message::default();
        if let Some(unit) = unit {
            counter.bytes(field::counter::UNIT, unit.as_bytes());
        }
        message.bytes(field::track::COUNTER, &counter.0);
    }
    message
}

#[pymethods]
impl PerfettoExport {
    /// `clock` is that of times, by Perfetto's number; `start` and `unix` are the time of `_ts` 0 by it and since 1970;
    /// `system` is name, version, release and machine; `kernel` describes the events of the kernel to write.
    #[new]
    fn new(
        clock: u64,
        start: i64,
        unix: Option<i64>,
        system: [Option<String>; 4],
        kernel: Vec<KernelEvent>,
    ) -> PyResult<PerfettoExport> {
        let version = system[2].as_deref().and_then(frame::version);
        Ok(PerfettoExport {
            metadata: TraceMetadata { clock, start, unix, system },
            kernel: KernelEvents::new(kernel, version)?,
            current: None,
            open: Vec::new(),
            lanes: FxHashSet::default(),
        })
    }

    /// Return the packets before all events.
    fn header<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &frame::header(&self.metadata, SEQUENCE))
    }

    /// Return the packets after all events; the last one is at a time `_ts`.
    fn trailer<'py>(&self, py: Python<'py>, last: i64) -> Bound<'py, PyBytes> {
        let end = last.saturating_add(self.metadata.start);
        PyBytes::new(py, &frame::trailer(end, SEQUENCE))
    }

    /// The kernel's events in order: `_ts`, `event`, `cpu`, `tid`, `tgid`, `comm_of_event`, `flags`, and columns of
    /// fields.
    fn kernel<'py>(&self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_kernel(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// Arrows: `arrow`, `name`, `category`, and for both ends time, track, lane, and whether they are in a slice.
    fn flows<'py>(&self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_flows(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// Describe processes (number, name, sort order, labels) and tracks (number, kind, name, process, thread, unit,
    /// parent, sort order).
    fn tracks<'py>(&self, py: Python<'py>, processes: Vec<Process>, tracks: Vec<Described>) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        let mut describe = |track: &Message| {
            let mut message = Message::default();
            message.bytes(field::packet::DESCRIPTOR, &track.0);
            packet(&mut out, &message);
        };
        for (pid, name, order, labels) in processes {
            let mut process = Message::default();
            process.varint(field::process::PID, pid.cast_unsigned());
            if let Some(name) = name {
                process.bytes(field::process::NAME, name.as_bytes());
            }
            if let Some(order) = order {
                process.int(field::process::ORDER, order);
            }
            if let Some(labels) = labels {
                process.bytes(field::process::LABELS, labels.as_bytes());
            }
            let mut track = Message::default();
            track.varint(field::track::UUID, PROCESS | pid.cast_unsigned());
            track.bytes(field::track::PROCESS, &process.0);
            describe(&track);
        }
        for track in tracks {
            describe(&described(track));
        }
        PyBytes::new(py, &out)
    }

    /// Slices in the order of `track`, `lane`, `_ts`, a slice before those in it: `_duration` (null if they never end),
    /// `id` and `parent_id` (both may be null), `name`, `category`, `args`.
    fn slices<'py>(&mut self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_slices(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// The ends of the slices still open after the last batch.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.close_all(&mut out);
        self.current = None;
        PyBytes::new(py, &out)
    }

    /// Values of counters: `_ts`, `track`, `value`.
    fn counters<'py>(&self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_counters(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// Instant events: `_ts`, `track` (null for the whole trace), `name`, `category`, `args`.
    fn instants<'py>(&self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_instants(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }
}
