//! Rows -> packets of Perfetto's traces.

use arrow_array::Array;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use quick_protobuf::Writer;
use rustc_hash::FxHashSet;

use super::rows::{Rows, int, text, wrong};
use crate::json::{Scanner, Token};

/// Numbers of fields, as the public schema has them.
mod field {
    pub const PACKET: u32 = 1;
    pub mod packet {
        pub const TIMESTAMP: u32 = 8;
        pub const SEQUENCE: u32 = 10;
        pub const EVENT: u32 = 11;
        pub const DESCRIPTOR: u32 = 60;
    }
    pub mod event {
        pub const ANNOTATION: u32 = 4;
        pub const TYPE: u32 = 9;
        pub const TRACK: u32 = 11;
        pub const CATEGORY: u32 = 22;
        pub const NAME: u32 = 23;
        pub const DOUBLE: u32 = 44;
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
        pub const NAME: u32 = 6;
    }
    pub mod thread {
        pub const PID: u32 = 1;
        pub const TID: u32 = 2;
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
/// All packets are of one sequence.
const SEQUENCE: u64 = 1;
/// Lanes of a track, and processes, have numbers far from those of tracks.
const LANE: u64 = 1 << 40;
const PROCESS: u64 = 1 << 62;

/// A message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, number: u32, value: u64) {
        let mut writer = Writer::new(&mut self.0);
        // Writing to a vector does not fail.
        drop(writer.write_with_tag(number << 3, |w| w.write_uint64(value)));
    }

    fn bytes(&mut self, number: u32, value: &[u8]) {
        let mut writer = Writer::new(&mut self.0);
        drop(writer.write_with_tag(number << 3 | 2, |w| w.write_bytes(value)));
    }

    fn double(&mut self, number: u32, value: f64) {
        let mut writer = Writer::new(&mut self.0);
        drop(writer.write_with_tag(number << 3 | 1, |w| w.write_double(value)));
    }
}

/// The track of a number.
fn uuid(track: i64, lane: i64) -> u64 {
    (track.cast_unsigned() & (LANE - 1))
        .wrapping_add(1)
        .wrapping_add(lane.cast_unsigned().wrapping_mul(LANE))
}

/// Batches of rows -> bytes of packets; times are ns from `start` on, which is added to them.
#[pyclass]
pub struct PerfettoExport {
    start: i64,
    /// The track and lane whose slices are being written, and the ends of those that are open.
    current: Option<(i64, i64)>,
    open: Vec<i64>,
    lanes: FxHashSet<(i64, i64)>,
}

/// One row of a track's description: number, kind, name, process, thread, unit.
type Described = (
    i64,
    String,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<String>,
);

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
        event.bytes(
            field::event::ANNOTATION,
            &annotation(&name, &value, args.as_bytes()).0,
        );
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
        Token::Huge(span) | Token::Nested(span) => {
            one.bytes(field::annotation::JSON, span.of(line))
        }
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

impl PerfettoExport {
    fn event(&self, out: &mut Vec<u8>, ts: i64, event: &Message) {
        let mut message = Message::default();
        let time = ts.saturating_add(self.start).max(0);
        message.varint(field::packet::TIMESTAMP, time.cast_unsigned());
        message.varint(field::packet::SEQUENCE, SEQUENCE);
        message.bytes(field::packet::EVENT, &event.0);
        packet(out, &message);
    }

    fn mark(
        &self,
        out: &mut Vec<u8>,
        ts: i64,
        kind: u64,
        track: u64,
        rest: impl FnOnce(&mut Message),
    ) {
        let mut event = Message::default();
        event.varint(field::event::TYPE, kind);
        event.varint(field::event::TRACK, track);
        rest(&mut event);
        self.event(out, ts, &event);
    }

    /// End the open slices that end until a time.
    fn close(&mut self, out: &mut Vec<u8>, until: i64) {
        let Some((track, lane)) = self.current else {
            return;
        };
        while self.open.last().is_some_and(|end| *end <= until) {
            if let Some(end) = self.open.pop() {
                self.mark(out, end, END, uuid(track, lane), |_| ());
            }
        }
    }

    fn turn(&mut self, out: &mut Vec<u8>, place: (i64, i64)) {
        if self.current == Some(place) {
            return;
        }
        // What never ends stays open, and is all that does.
        self.open.retain(|end| *end < i64::MAX);
        self.close(out, i64::MAX - 1);
        self.open.clear();
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
        let (ts, dur, track) = (
            rows.ints("_ts")?,
            rows.ints("_duration")?,
            rows.ints("track")?,
        );
        let (name, category, args) = (
            rows.texts("name")?,
            rows.texts("category")?,
            rows.texts("args")?,
        );
        let lane = rows.ints("lane")?;
        let mut out = Vec::with_capacity(rows.len() * 96);
        for row in 0..rows.len() {
            let (Some(at), Some(number)) = (int(&ts, row), int(&track, row)) else {
                continue;
            };
            let place = (number, int(&lane, row).unwrap_or(0));
            self.turn(&mut out, place);
            self.close(&mut out, at);
            self.mark(&mut out, at, BEGIN, uuid(place.0, place.1), |event| {
                event.bytes(field::event::NAME, text(&name, row).as_bytes());
                if category.is_valid(row) {
                    event.bytes(field::event::CATEGORY, category.value(row).as_bytes());
                }
                annotations(event, text(&args, row));
            });
            let end = int(&dur, row).map_or(i64::MAX, |length| at.saturating_add(length));
            if end == at {
                self.mark(&mut out, at, END, uuid(place.0, place.1), |_| ());
            } else {
                self.open.push(end);
            }
        }
        Ok(out)
    }

    fn write_counters(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, track, value) = (
            rows.ints("_ts")?,
            rows.ints("track")?,
            rows.floats("value")?,
        );
        let mut out = Vec::with_capacity(rows.len() * 40);
        for row in 0..rows.len() {
            if let (Some(at), Some(number), true) =
                (int(&ts, row), int(&track, row), value.is_valid(row))
            {
                self.mark(&mut out, at, COUNTER, uuid(number, 0), |event| {
                    event.double(field::event::DOUBLE, value.value(row));
                });
            }
        }
        Ok(out)
    }

    fn write_instants(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, track) = (rows.ints("_ts")?, rows.ints("track")?);
        let (name, category, args) = (
            rows.texts("name")?,
            rows.texts("category")?,
            rows.texts("args")?,
        );
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

fn described((track, kind, name, pid, tid, unit): Described) -> Message {
    let mut message = Message::default();
    message.varint(field::track::UUID, uuid(track, 0));
    let named = name.as_deref().unwrap_or_default().as_bytes();
    match (kind.as_str(), pid, tid) {
        ("thread", Some(pid), Some(tid)) => {
            let mut thread = Message::default();
            thread.varint(field::thread::PID, pid.cast_unsigned());
            thread.varint(field::thread::TID, tid.cast_unsigned());
            thread.bytes(field::thread::NAME, named);
            message.bytes(field::track::THREAD, &thread.0);
        }
        (_, pid, _) => {
            message.bytes(field::track::NAME, named);
            if let Some(pid) = pid {
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
    #[new]
    fn new(start: i64) -> PerfettoExport {
        PerfettoExport {
            start,
            current: None,
            open: Vec::new(),
            lanes: FxHashSet::default(),
        }
    }

    /// Processes (number, name) and tracks (number, kind, name, process, thread, unit) -> their descriptions.
    fn tracks<'py>(
        &self,
        py: Python<'py>,
        processes: Vec<(i64, Option<String>)>,
        tracks: Vec<Described>,
    ) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        let mut describe = |track: &Message| {
            let mut message = Message::default();
            message.bytes(field::packet::DESCRIPTOR, &track.0);
            packet(&mut out, &message);
        };
        for (pid, name) in processes {
            let mut process = Message::default();
            process.varint(field::process::PID, pid.cast_unsigned());
            process.bytes(field::process::NAME, name.unwrap_or_default().as_bytes());
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

    /// Slices in the order of `track`, `lane`, `_ts`, depth: `_duration` (null if they never end), `name`, `category`, `args`.
    fn slices<'py>(
        &mut self,
        py: Python<'py>,
        batch: PyRecordBatch,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.into_inner());
        let made = py.detach(|| self.write_slices(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// The ends of the slices that are open after the last batch.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.open.retain(|end| *end < i64::MAX);
        self.close(&mut out, i64::MAX - 1);
        self.current = None;
        PyBytes::new(py, &out)
    }

    /// Values of counters: `_ts`, `track`, `value`.
    fn counters<'py>(
        &self,
        py: Python<'py>,
        batch: PyRecordBatch,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.into_inner());
        let made = py.detach(|| self.write_counters(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// Moments: `_ts`, `track` (null for the whole trace), `name`, `category`, `args`.
    fn instants<'py>(
        &self,
        py: Python<'py>,
        batch: PyRecordBatch,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.into_inner());
        let made = py.detach(|| self.write_instants(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }
}
