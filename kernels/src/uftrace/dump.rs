//! Print files of records, one after the other, as lines with their contents, or only those that pass filters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use super::events;
use super::feed::Feed;
use super::payload::{Payload, Payloads};
use super::perf::What;
use super::record::{self, Record};
use super::setup::Setup;
use super::source::{Kind, RecordFile, SideRecord};
use super::symbols::Symbols;
use super::task::Task;
use crate::calls::{Columns, ENTRY, EXIT, UNTIMED, put};
use crate::exchange::InputBatch;
use crate::input::bytes::number_of;
use crate::rows::Failure;

/// Bytes of lines per result.
const LINES: usize = 1 << 18;

/// A call, with the filters' result.
struct Row {
    tid: i64,
    time: i64,
    end: Option<i64>,
    level: i64,
    address: i64,
    marks: u8,
    /// Only its end was recorded, or neither.
    begun_before: bool,
}

/// An open call: depth, address, and which of its ends are shown.
struct Frame {
    depth: u16,
    address: u64,
    marks: u8,
}

/// The output format.
#[derive(FromPyObject)]
struct Wanted {
    /// Whether to include the data of records: arguments, results, data of events.
    data: bool,
    events: bool,
    /// Only records of pushed rows, in the order of the files.
    filtered: bool,
    /// The time of the trace's start, the origin of the rows' times.
    start: i64,
}

struct Dumper {
    wanted: Wanted,
    sources: Vec<RecordFile>,
    tasks: Vec<Task>,
    symbols: Symbols,
    payloads: Payloads,
    names: FxHashMap<u64, String>,
    big: bool,
    wide: bool,
    /// The current file, and whether it is being read.
    current: usize,
    opened: bool,
    stack: Vec<Frame>,
    rows: VecDeque<Row>,
    /// Shown calls of this file that began before it.
    exits: Vec<Row>,
    /// No more rows follow.
    complete: bool,
    text: Vec<u8>,
    out: Vec<u8>,
}

impl Dumper {
    fn new(mut setup: Setup, wanted: Wanted) -> Dumper {
        let mut sessions: FxHashMap<i64, Vec<(i64, usize)>> =
            std::mem::take(&mut setup.sessions_of).into_iter().collect();
        let tasks = setup.tasks.iter().enumerate().map(|(number, one)| {
            let sessions = sessions.remove(&one.tid).unwrap_or_default();
            Task::new(number as u32, (one.tid, one.pid), one.ppid, sessions)
        });
        let tasks: Vec<Task> = tasks.collect();
        let big = setup.big_endian;
        let done = Arc::new(AtomicU64::new(0));
        let mut sources = Vec::new();
        for (kind, file, path, number) in std::mem::take(&mut setup.sources) {
            let kind = match kind.as_str() {
                "perf" => Kind::Perf(number),
                "extern" => continue,
                _ => Kind::Task(tasks.iter().position(|one| one.tid == number).unwrap_or(usize::MAX)),
            };
            if kind != Kind::Task(usize::MAX) {
                let feed = Feed::new(path, Arc::clone(&done));
                sources.push(RecordFile::new(kind, file, feed, big));
            }
        }
        Dumper {
            complete: !wanted.filtered,
            wanted,
            sources,
            tasks,
            payloads: Payloads::new(&mut setup),
            names: std::mem::take(&mut setup.events).into_iter().collect(),
            big,
            wide: setup.wide,
            symbols: Symbols::new(&mut setup),
            current: 0,
            opened: false,
            stack: Vec::new(),
            rows: VecDeque::new(),
            exits: Vec::new(),
            text: Vec::new(),
            out: Vec::new(),
        }
    }

    fn take_rows(&mut self, batch: &RecordBatch) {
        let columns = Columns(batch.columns());
        for row in 0..batch.num_rows() {
            let marks = columns.marks(4, row);
            let time = columns.long(0, row).unwrap_or(0);
            let time = time.saturating_add(self.wanted.start);
            let length = columns.long(8, row);
            self.rows.push_back(Row {
                tid: columns.long(1, row).unwrap_or(0),
                time,
                end: length.map(|length| time.saturating_add(length)),
                level: columns.long(15, row).unwrap_or(0),
                address: columns.long(13, row).unwrap_or(0),
                marks,
                begun_before: marks == 0 || columns.long(17, row) == Some(UNTIMED),
            });
        }
    }

    /// Write until rows are missing, there are enough lines, or everything is written.
    fn run(&mut self) -> Result<bool, Failure> {
        while self.out.len() < LINES {
            let Some(source) = self.sources.get_mut(self.current) else {
                return Ok(false);
            };
            let kind = source.kind;
            if !self.opened {
                source.feed.open()?;
                source.advance()?;
                self.opened = true;
                self.begin(kind);
            }
            let Some(source) = self.sources.get_mut(self.current) else {
                return Ok(false);
            };
            if let (Kind::Perf(_), Some(note)) = (kind, source.note.take()) {
                source.advance()?;
                self.note(note);
                continue;
            }
            let (Kind::Task(number), Some(record)) = (kind, source.record()) else {
                self.opened = false;
                self.current += 1;
                continue;
            };
            if !self.record(number, &record)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn begin(&mut self, kind: Kind) {
        self.stack.clear();
        self.exits.clear();
        let empty = self.sources.get(self.current).is_some_and(|source| source.time().is_none());
        match kind {
            Kind::Task(number) => {
                let tid = self.tasks.get(number).map_or(0, |one| one.tid);
                put(&mut self.out, format_args!("reading {tid}.dat\n"));
            }
            Kind::Perf(cpu) if self.wanted.events && !empty => {
                if cpu == 0 {
                    self.out.push(b'\n');
                }
                put(&mut self.out, format_args!("reading perf-cpu{cpu}.dat\n"));
            }
            _ => {}
        }
    }

    /// Handle the record at the head of the file; false if it is not known yet whether it is shown.
    fn record(&mut self, number: usize, record: &Record) -> Result<bool, Failure> {
        let Some(task) = self.tasks.get_mut(number) else {
            return Ok(false);
        };
        let tid = task.tid;
        while self.rows.front().is_some_and(|row| row.tid == tid && row.begun_before) {
            self.exits.extend(self.rows.pop_front());
        }
        if !self.complete && self.rows.is_empty() {
            return Ok(false);
        }
        let session = task.session(record.time);
        let shown = match record.kind {
            record::ENTRY => self.entry(tid, record),
            record::EXIT => self.exit(record),
            record::EVENT => {
                self.wanted.events
                    && (!self.wanted.filtered || self.stack.last().is_some_and(|top| top.marks & ENTRY != 0))
            }
            _ => !self.wanted.filtered,
        };
        self.write(tid, session, record, shown)?;
        if let Some(source) = self.sources.get_mut(self.current) {
            source.advance()?;
        }
        Ok(true)
    }

    fn entry(&mut self, tid: i64, record: &Record) -> bool {
        while self.stack.last().is_some_and(|top| top.depth >= record.depth) {
            self.stack.pop();
        }
        let row = self.rows.front().filter(|row| {
            row.tid == tid
                && row.time == record.time
                && row.level == i64::from(record.depth)
                && row.address == record.address.cast_signed()
        });
        let marks = match row {
            Some(row) => row.marks,
            None if self.wanted.filtered => 0,
            None => ENTRY | EXIT,
        };
        if row.is_some() {
            self.rows.pop_front();
        }
        self.stack.push(Frame { depth: record.depth, address: record.address, marks });
        marks & ENTRY != 0
    }

    fn exit(&mut self, record: &Record) -> bool {
        let place = self.stack.iter().rposition(|one| {
            one.address == record.address && (one.depth == record.depth || one.depth == record.depth + 1)
        });
        if let Some(place) = place {
            let marks = self.stack.get(place).map_or(0, |one| one.marks);
            self.stack.truncate(place);
            return marks & EXIT != 0;
        }
        let found = self
            .exits
            .iter()
            .position(|row| row.end == Some(record.time) && row.address == record.address.cast_signed());
        let marks = found.map(|place| self.exits.swap_remove(place).marks);
        !self.wanted.filtered || marks.unwrap_or(0) & EXIT != 0
    }

    /// Read the record with its data, and write both if they are shown.
    fn write(&mut self, tid: i64, session: usize, record: &Record, shown: bool) -> Result<(), Failure> {
        let named = matches!(record.kind, record::ENTRY | record::EXIT);
        let function = named.then(|| self.symbols.function(session, record.address, record.time));
        if shown {
            let (word, name) = match record.kind {
                record::ENTRY => ("entry", None),
                record::EXIT => ("exit ", None),
                record::EVENT => ("event", Some(self.event_name(record.address))),
                _ => ("lost ", Some(format!("<{:x}>", record.address))),
            };
            head(&mut self.out, record.time, tid);
            put(&mut self.out, format_args!("[{word}] "));
            match (&name, function) {
                (Some(name), _) => self.out.extend_from_slice(name.as_bytes()),
                (None, Some(at)) => {
                    let one = self.symbols.functions.get(at as usize);
                    self.out.extend_from_slice(one.map_or(b"", |one| &one.name));
                }
                _ => {}
            }
            put(&mut self.out, format_args!("({:x}) depth: {}\n", record.address, record.depth));
        }
        let Some(source) = self.sources.get_mut(self.current) else {
            return Ok(());
        };
        if !record.more {
            source.feed.take(record::BYTES);
            return Ok(());
        }
        let shown = shown && self.wanted.data;
        if record.kind == record::EVENT {
            return self.event_data(tid, session, record, shown);
        }
        let Some(function) = function else {
            source.feed.take(record::BYTES);
            return Ok(());
        };
        self.values(tid, (session, function), record, shown)
    }

    fn values(&mut self, tid: i64, place: (usize, u32), record: &Record, shown: bool) -> Result<(), Failure> {
        let Some(source) = self.sources.get_mut(self.current) else {
            return Ok(());
        };
        let result = record.kind == record::EXIT;
        let found = self.payloads.raw(&mut source.feed, &self.symbols, place, result, &mut self.text)?;
        let length = match found {
            Payload::Cut => return source.cut_off(),
            Payload::Text(length) => {
                source.take(record::BYTES + length.next_multiple_of(8))?;
                length
            }
            Payload::Unknown => {
                let length = source.skip(record)?;
                source.feed.take(record::BYTES + length);
                self.text.clear();
                length
            }
        };
        if shown {
            let word = if result { "retval" } else { "args " };
            head(&mut self.out, record.time, tid);
            put(&mut self.out, format_args!("[{word}] length = {length}\n"));
            self.out.extend_from_slice(&self.text);
        }
        Ok(())
    }

    fn event_data(&mut self, tid: i64, session: usize, record: &Record, shown: bool) -> Result<(), Failure> {
        let name = self.event_name(record.address);
        let Some(source) = self.sources.get_mut(self.current) else {
            return Ok(());
        };
        let bytes = source.feed.view(record::BYTES + 2)?;
        let length = number_of(bytes.get(record::BYTES..).unwrap_or(&[]), self.big) as usize;
        let whole = record::event_bytes(length);
        let bytes = source.feed.view(whole)?;
        if bytes.len() < whole {
            return source.cut_off();
        }
        if shown {
            let data = bytes.get(record::BYTES + 2..record::BYTES + 2 + length).unwrap_or(&[]);
            let symbols = &self.symbols;
            let variable = |address| {
                let (module, symbol) = symbols.find(session, address)?;
                let found = symbols.modules.get(module)?.symbols.get(symbol)?;
                Some(found.name.clone())
            };
            head(&mut self.out, record.time, tid);
            put(&mut self.out, format_args!("[data ] length = {length}\n"));
            let said = events::said(record.address, data, (self.big, self.wide), variable);
            match said {
                Some(said) => put(&mut self.out, format_args!("  {name}: {said}\n")),
                None => put(&mut self.out, format_args!("  {name}\n")),
            }
        }
        source.feed.take(whole);
        Ok(())
    }

    fn event_name(&self, id: u64) -> String {
        events::known_name(id)
            .map(str::to_owned)
            .or_else(|| self.names.get(&id).cloned())
            .unwrap_or_else(|| format!("user_event:{id}"))
    }

    /// Handle a record of the kernel or a message of a program.
    fn note(&mut self, note: SideRecord) {
        let SideRecord::Perf(happened) = note else {
            return;
        };
        if !self.wanted.events {
            return;
        }
        let (name, id) = match happened.what {
            What::In => ("linux:sched-in", 200_001),
            What::Out { preempted: false } => ("linux:sched-out", 200_002),
            What::Out { preempted: true } => ("linux:sched-out (pre-empted)", 200_007),
            What::New { .. } => ("linux:task-new", 200_004),
            What::Exit => ("linux:task-exit", 200_005),
            What::Name { .. } => ("linux:task-name", 200_006),
        };
        head(&mut self.out, happened.time, happened.tid);
        put(&mut self.out, format_args!("[event] {name}({id})\n"));
    }
}

/// Time and thread.
fn head(out: &mut Vec<u8>, time: i64, tid: i64) {
    let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
    put(out, format_args!("{seconds}.{rest:09}  {tid:7}: "));
}

/// Writes the records of a data directory.
#[pyclass(module = "dctv._kernels")]
pub struct UftraceDump(Dumper);

impl UftraceDump {
    fn lines(&mut self, batch: Option<&RecordBatch>) -> Result<Option<Vec<u8>>, Failure> {
        let dumper = &mut self.0;
        match batch {
            Some(batch) => dumper.take_rows(batch),
            None => dumper.complete = true,
        }
        let more = dumper.run()?;
        let out = std::mem::take(&mut dumper.out);
        Ok((more || !out.is_empty()).then_some(out))
    }
}

#[pymethods]
impl UftraceDump {
    #[new]
    fn new(setup: Setup, wanted: Wanted) -> Self {
        Self(Dumper::new(setup, wanted))
    }

    /// Take shown calls in the order of the files, and return the lines that are final.
    fn push<'py>(&mut self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let batch = batch.0;
        let mut out = Vec::new();
        let empty = RecordBatch::new_empty(batch.schema());
        let made = py.detach(|| {
            let mut next = self.lines(Some(&batch))?;
            while let Some(mut lines) = next {
                out.append(&mut lines);
                next = self.lines(Some(&empty))?;
            }
            Ok::<(), Failure>(())
        });
        made?;
        Ok(PyBytes::new(py, &out))
    }

    /// Return more lines, after the last calls; None at the end.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let lines = py.detach(|| self.lines(None))?;
        Ok(lines.map(|lines| PyBytes::new(py, &lines)))
    }
}
