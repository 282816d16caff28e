//! Write rows as Chrome JSON events, each on a line of its own and followed by a comma.

use std::io::Write;

use arrow_array::Array;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use super::frame::version;
use super::kernel::{Described, KernelEvents, letters, one_line};
use super::rows::{Rows, int, text, wrong};
use crate::exchange::InputBatch;
use crate::json::{push_escaped, push_finite, push_quoted};

/// A writer of batches of rows as Chrome JSON events; tracks are given by number, each with its process and thread.
///
/// Times are ns relative to `start`, which is added to them, and are written in us without loss.
#[pyclass]
pub struct ChromeExport {
    tracks: FxHashMap<i64, (i64, i64)>,
    /// Names of counters, and whether another counter of the process has the same name.
    names: FxHashMap<i64, (String, bool)>,
    kinds: FxHashMap<i64, String>,
    start: i64,
    kernel: KernelEvents,
    /// The last slice without length: track, lane and time.
    last: Option<Place>,
    open: Vec<Open>,
}

/// Track, lane and time of a slice without length.
type Place = (Option<i64>, i64, i64);

/// A slice without length whose end is not written.
struct Open {
    id: Option<i64>,
    track: Option<i64>,
    ts: i64,
    name: Box<str>,
    category: Box<str>,
    nested: bool,
}

/// ns as us, with as many decimals as they need.
fn micros(out: &mut Vec<u8>, ns: i64) {
    let (whole, rest) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
    let sign = if ns < 0 { "-" } else { "" };
    drop(match rest {
        0 => write!(out, "{sign}{whole}"),
        _ => write!(out, "{sign}{whole}.{rest:03}"),
    });
}

struct Event<'a> {
    phase: &'a str,
    name: &'a str,
    category: &'a str,
    place: (i64, i64),
}

impl ChromeExport {
    fn place(&self, track: Option<i64>) -> (i64, i64) {
        track.and_then(|track| self.tracks.get(&track)).copied().unwrap_or((0, 0))
    }

    fn begin(&self, out: &mut Vec<u8>, event: &Event, ts: i64) {
        out.extend_from_slice(b"{\"ph\":\"");
        out.extend_from_slice(event.phase.as_bytes());
        out.extend_from_slice(b"\",\"name\":");
        push_quoted(out, event.name.as_bytes());
        if !event.category.is_empty() {
            out.extend_from_slice(b",\"cat\":");
            push_quoted(out, event.category.as_bytes());
        }
        let (pid, tid) = event.place;
        drop(write!(out, ",\"pid\":{pid},\"tid\":{tid},\"ts\":"));
        micros(out, ts.saturating_add(self.start));
    }

    fn end(out: &mut Vec<u8>, args: &str) {
        if !args.is_empty() && args != "{}" {
            out.extend_from_slice(b",\"args\":");
            push_finite(out, args.as_bytes());
        }
        out.extend_from_slice(b"},\n");
    }

    /// Write slices in the order of track, lane and begin, a slice before those in it.
    ///
    /// A slice of a thread is one complete event. Complete events nest by their times, which do not tell whether one of
    /// several slices without length at one time lies in another: their begins and ends do.
    fn write_slices(&mut self, rows: &Rows, nested: bool) -> Result<Vec<u8>, ArrowError> {
        let (ts, dur, track) = (rows.ints("_ts")?, rows.ints("_duration")?, rows.ints("track")?);
        let (lane, id, parent) = (rows.ints("lane")?, rows.ints("id")?, rows.ints("parent_id")?);
        let (name, category, args) = (rows.texts("name")?, rows.texts("category")?, rows.texts("args")?);
        let (leaving, arriving) = (rows.texts("leaving")?, rows.texts("arriving")?);
        let empty_at = |row| match (int(&ts, row), int(&dur, row)) {
            (Some(at), Some(0)) => Some((int(&track, row), int(&lane, row).unwrap_or(0), at)),
            _ => None,
        };
        let mut out = Vec::with_capacity(rows.len() * 128);
        for row in 0..rows.len() {
            let (Some(at), number) = (int(&ts, row), int(&track, row)) else {
                continue;
            };
            let length = int(&dur, row);
            let empty = empty_at(row);
            let follows = empty.is_some() && empty == self.last;
            self.last = empty;
            self.close(&mut out, int(&parent, row).filter(|_| follows));
            // The next batch may begin with another one.
            let is_followed = empty.is_some() && (row + 1 == rows.len() || empty_at(row + 1) == empty);
            let phase = match (nested, length) {
                (true, Some(_)) if !follows && !is_followed => "X",
                (true, _) => "B",
                (false, _) => "b",
            };
            let event =
                Event { phase, name: text(&name, row), category: text(&category, row), place: self.place(number) };
            self.begin(&mut out, &event, at);
            if let ("X", Some(length)) = (phase, length) {
                out.extend_from_slice(b",\"dur\":");
                micros(&mut out, length);
            }
            if !nested {
                drop(write!(out, ",\"id\":\"{:#x}\"", number.unwrap_or(0)));
            }
            for (way, arrow) in [("flow_out", text(&leaving, row)), ("flow_in", text(&arriving, row))] {
                if !arrow.is_empty() {
                    drop(write!(out, ",\"bind_id\":\"{arrow}\",\"{way}\":true"));
                }
            }
            Self::end(&mut out, text(&args, row));
            match length {
                Some(length) if phase != "X" && empty.is_none() => {
                    self.write_end(&mut out, &event, number, at.saturating_add(length));
                }
                Some(_) if phase != "X" => self.open.push(Open {
                    id: int(&id, row),
                    track: number,
                    ts: at,
                    name: event.name.into(),
                    category: event.category.into(),
                    nested,
                }),
                _ => (),
            }
        }
        Ok(out)
    }

    /// End the open slices, but for one and those around it.
    fn close(&mut self, out: &mut Vec<u8>, around: Option<i64>) {
        let stays = around.and_then(|id| self.open.iter().rposition(|one| one.id == Some(id)));
        let stays = stays.map_or(0, |place| place + 1);
        while self.open.len() > stays {
            if let Some(one) = self.open.pop() {
                let phase = if one.nested { "B" } else { "b" };
                let event = Event { phase, name: &one.name, category: &one.category, place: self.place(one.track) };
                self.write_end(out, &event, one.track, one.ts);
            }
        }
    }

    /// Write the end of a slice that began with an event.
    fn write_end(&self, out: &mut Vec<u8>, begun: &Event, track: Option<i64>, ts: i64) {
        let nested = begun.phase == "B";
        self.begin(out, &Event { phase: if nested { "E" } else { "e" }, ..*begun }, ts);
        if !nested {
            drop(write!(out, ",\"id\":\"{:#x}\"", track.unwrap_or(0)));
        }
        Self::end(out, "");
    }

    fn write_flows(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let arrow = rows.ints("arrow")?;
        let (name, category) = (rows.texts("name")?, rows.texts("category")?);
        let mut out = Vec::with_capacity(rows.len() * 192);
        for (end, phase) in [("from", "s"), ("to", "f")] {
            let ts = rows.ints(&format!("{end}_ts"))?;
            let track = rows.ints(&format!("{end}_track"))?;
            let inside = rows.ints(&format!("{end}_inside"))?;
            for row in 0..rows.len() {
                let Some(at) = int(&ts, row) else { continue };
                let event = Event {
                    phase,
                    name: text(&name, row),
                    category: text(&category, row),
                    place: self.place(int(&track, row)),
                };
                self.begin(&mut out, &event, at);
                drop(write!(out, ",\"id\":{}", int(&arrow, row).unwrap_or(0)));
                if phase == "f" && int(&inside, row) == Some(1) {
                    out.extend_from_slice(b",\"bp\":\"e\"");
                }
                Self::end(&mut out, "");
            }
        }
        Ok(out)
    }

    /// Lines such as `bash-12 ( 12) [000] d.h. 1.000000001: sched_waking: comm=...`, escaped for a JSON string.
    fn write_kernel(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let columns = self.kernel.columns(rows)?;
        let kernel = self.kernel.rows(&columns);
        let mut out = Vec::with_capacity(rows.len() * 160);
        let mut line = Vec::new();
        for row in 0..rows.len() {
            let (Some(at), Some(cpu)) = (int(&columns.ts, row), int(&columns.cpu, row)) else {
                continue;
            };
            line.clear();
            match text(&columns.comm, row) {
                "" => line.extend_from_slice(b"<...>"),
                comm => one_line(&mut line, comm),
            }
            drop(write!(line, "-{} (", int(&columns.tid, row).unwrap_or(0)));
            match int(&columns.tgid, row) {
                Some(tgid) => drop(write!(line, "{tgid}")),
                None => line.extend_from_slice(b"-----"),
            }
            drop(write!(line, ") [{cpu:03}] "));
            // If flags are missing, viewers take digits of the time for them; no kernel prints this letter alone.
            match columns.flags.is_valid(row) {
                true => letters(&mut line, columns.flags.value(row)),
                false => line.push(b'x'),
            }
            line.push(b' ');
            let time = at.saturating_add(self.start).max(0);
            let event = columns.event.value(row);
            drop(write!(line, "{}.{:09}: {event}:", time / 1_000_000_000, time % 1_000_000_000));
            if kernel.print(&mut line, event, row) {
                push_escaped(&mut out, String::from_utf8_lossy(&line).as_bytes());
                out.extend_from_slice(b"\\n");
            }
        }
        Ok(out)
    }

    fn write_counters(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, track, value) = (rows.ints("_ts")?, rows.ints("track")?, rows.floats("value")?);
        let mut out = Vec::with_capacity(rows.len() * 96);
        for row in 0..rows.len() {
            let (Some(at), Some(number)) = (int(&ts, row), int(&track, row)) else {
                continue;
            };
            if value.is_null(row) || !value.value(row).is_finite() {
                continue;
            }
            let named = self.names.get(&number);
            let (name, taken) = named.map_or(("counter", false), |(name, taken)| (name, *taken));
            let event = Event { phase: "C", name, category: "", place: self.place(Some(number)) };
            self.begin(&mut out, &event, at);
            if taken {
                drop(write!(out, ",\"id\":\"{number:#x}\""));
            }
            drop(writeln!(out, ",\"args\":{{\"value\":{}}}}},", value.value(row)));
        }
        Ok(out)
    }

    fn write_instants(&self, rows: &Rows) -> Result<Vec<u8>, ArrowError> {
        let (ts, track) = (rows.ints("_ts")?, rows.ints("track")?);
        let (name, category, args) = (rows.texts("name")?, rows.texts("category")?, rows.texts("args")?);
        let mut out = Vec::with_capacity(rows.len() * 96);
        for row in 0..rows.len() {
            let Some(at) = int(&ts, row) else { continue };
            let number = int(&track, row);
            let kind = number.and_then(|number| self.kinds.get(&number)).map_or("global", String::as_str);
            let phase = if kind == "async" { "n" } else { "i" };
            let event =
                Event { phase, name: text(&name, row), category: text(&category, row), place: self.place(number) };
            self.begin(&mut out, &event, at);
            match kind {
                "async" => drop(write!(out, ",\"id\":\"{:#x}\"", number.unwrap_or(0))),
                "process" => out.extend_from_slice(b",\"s\":\"p\""),
                "global" => out.extend_from_slice(b",\"s\":\"g\""),
                _ => out.extend_from_slice(b",\"s\":\"t\""),
            }
            Self::end(&mut out, text(&args, row));
        }
        Ok(out)
    }
}

#[pymethods]
impl ChromeExport {
    /// `tracks` are numbers, kinds, names, processes, threads and whether the name is taken, `release` is that of the
    /// kernel to write events for.
    #[new]
    fn new(
        tracks: Vec<(i64, String, Option<String>, i64, i64, bool)>,
        start: i64,
        release: Option<&str>,
        kernel: Vec<Described>,
    ) -> PyResult<ChromeExport> {
        let mut places = FxHashMap::default();
        let mut names = FxHashMap::default();
        let mut kinds = FxHashMap::default();
        for (track, kind, name, pid, tid, taken) in tracks {
            places.insert(track, (pid, tid));
            names.insert(track, (name.unwrap_or_default(), taken));
            kinds.insert(track, kind);
        }
        let kernel = KernelEvents::new(kernel, release.and_then(version))?;
        Ok(ChromeExport { tracks: places, names, kinds, start, kernel, last: None, open: Vec::new() })
    }

    /// An instant event of the trace without a thread, at a time `_ts`: its start or end.
    fn bound<'py>(&self, py: Python<'py>, ts: i64, name: &str) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        let event = Event { phase: "c", name: "clock_sync", category: "", place: (0, 0) };
        self.begin(&mut out, &event, ts);
        out.extend_from_slice(b",\"args\":{\"sync_id\":");
        push_quoted(&mut out, name.as_bytes());
        out.extend_from_slice(b"}},\n");
        PyBytes::new(py, &out)
    }

    /// The kernel's events in order, as lines of ftrace text within a JSON string.
    fn kernel<'py>(&self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_kernel(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// Arrows: `arrow`, `name`, `category`, and for both ends time, track, and whether they are in a slice.
    fn flows<'py>(&self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_flows(&rows));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// Slices of threads in the order of `track`, `lane`, `_ts`, a slice before those in it: `_duration` (null if they
    /// never end), `id` and `parent_id` (both may be null), `name`, `category`, `args`.
    fn slices<'py>(&mut self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_slices(&rows, true));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// The same for asynchronous tracks; their numbers become ids.
    fn async_slices<'py>(&mut self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Rows::new(batch.0);
        let made = py.detach(|| self.write_slices(&rows, false));
        Ok(PyBytes::new(py, &made.map_err(|error| wrong(&error))?))
    }

    /// The ends of the slices still open after the last batch of a kind.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.close(&mut out, None);
        self.last = None;
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
