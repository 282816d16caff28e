//! Shown calls and events in order of time -> lines of text, a call without anything in it on one line.

use std::sync::Mutex;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use rustc_hash::FxHashMap;

use super::filter::{ENTRY, EXIT};
use super::layout::{Cells, Field, blank, cells, header, indent, put};
use super::switching::{End, Ends};
use crate::sweeps::{fail, to_python};

/// A call that is printed.
struct Call {
    id: i64,
    tid: i64,
    time: i64,
    duration: Option<i64>,
    depth: i32,
    level: i64,
    marks: u8,
    indent: i32,
    outdent: i32,
    address: Option<i64>,
    name: Box<str>,
    args: Option<Box<str>>,
    result: Option<Box<str>>,
    module: Option<Box<str>>,
    task: Box<str>,
    stack: Option<Box<str>>,
    /// Its begin was recorded; else nothing is known before the first line of its thread.
    timed: bool,
    /// It is no call, but an event that lasts: its begin and its end are named differently.
    is_event: bool,
}

/// What a row is: an event, or a call whose begin was not recorded; else a call.
pub(super) const EVENT: i64 = 1;
pub const UNTIMED: i64 = 2;

#[derive(Default)]
struct Thread {
    open: Vec<Call>,
    /// When the last line was, and the one before.
    times: (Option<i64>, Option<i64>),
    indent: i32,
}

/// How lines look.
#[derive(FromPyObject)]
struct Style {
    fields: Vec<String>,
    args: bool,
    comments: bool,
    flat: bool,
    task_newline: bool,
    /// The time of the trace's begin in its own clock.
    start: i64,
}

struct Printer {
    style: Style,
    fields: Vec<Field>,
    threads: FxHashMap<u32, Thread>,
    numbers: FxHashMap<i64, u32>,
    ends: Ends,
    /// A call whose line is not written yet, since it may be left before anything else happens.
    entered: Option<(u32, i64)>,
    last_tid: Option<i64>,
    count: u64,
    begun: bool,
    out: Vec<u8>,
}

/// The columns of a batch, by place.
pub struct Columns<'a>(pub &'a [ArrayRef]);

impl<'a> Columns<'a> {
    pub fn long(&self, column: usize, row: usize) -> Option<i64> {
        let values = self.0.get(column)?.as_primitive_opt::<Int64Type>()?;
        values.is_valid(row).then(|| values.value(row))
    }

    pub fn int(&self, column: usize, row: usize) -> i32 {
        let values = self
            .0
            .get(column)
            .and_then(|one| one.as_primitive_opt::<Int32Type>());
        values
            .filter(|one| one.is_valid(row))
            .map_or(0, |one| one.value(row))
    }

    pub fn marks(&self, column: usize, row: usize) -> u8 {
        let values = self
            .0
            .get(column)
            .and_then(|one| one.as_primitive_opt::<Int8Type>());
        values
            .filter(|one| one.is_valid(row))
            .map_or(0, |one| one.value(row).cast_unsigned())
    }

    pub fn text(&self, column: usize, row: usize) -> Option<&'a str> {
        let values = self.0.get(column)?.as_string_opt::<i32>()?;
        values.is_valid(row).then(|| values.value(row))
    }
}

impl Printer {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let columns = Columns(batch.columns());
        for row in 0..batch.num_rows() {
            let (Some(time), Some(id)) = (columns.long(0, row), columns.long(2, row)) else {
                return Err(fail("a call has no time or number"));
            };
            let tid = columns.long(1, row).unwrap_or(0);
            let fresh = u32::try_from(self.numbers.len())
                .map_err(|_| fail("more threads than can be numbered"))?;
            let number = *self.numbers.entry(tid).or_insert(fresh);
            let kind = columns.long(17, row);
            if kind == Some(EVENT) {
                self.event(number, id, time, tid, &columns, row);
                continue;
            }
            let text = |column| columns.text(column, row).map(Box::from);
            let call = Call {
                id,
                tid,
                time,
                duration: columns.long(8, row),
                depth: columns.int(3, row),
                level: columns.long(15, row).unwrap_or(0),
                marks: columns.marks(4, row),
                indent: columns.int(5, row),
                outdent: columns.int(6, row),
                address: columns.long(13, row),
                name: text(9).unwrap_or_default(),
                args: text(10),
                result: text(11),
                module: text(12),
                task: text(14).unwrap_or_default(),
                stack: text(7),
                timed: kind != Some(UNTIMED),
                is_event: false,
            };
            self.enter(number, call);
        }
        Ok(())
    }

    /// Leaves what was over before a time; of what ends at it, not what is less deep in the same thread.
    fn leave_until(&mut self, time: Option<i64>, number: u32, depth: i32) {
        loop {
            let threads = &self.threads;
            let stays = |end: &End| {
                end.thread == number
                    && threads.get(&end.thread).is_some_and(|thread| {
                        let open = thread.open.iter().rev();
                        open.into_iter()
                            .find(|call| call.id == end.id)
                            .is_some_and(|call| call.depth < depth)
                    })
            };
            let Some(end) = self.ends.next(time, stays) else {
                return;
            };
            self.leave(&end);
        }
    }

    fn enter(&mut self, number: u32, call: Call) {
        self.leave_until(Some(call.time), number, call.depth);
        let (id, marks) = (call.id, call.marks);
        if marks == 0 {
            return;
        }
        if marks & ENTRY != 0 {
            self.write_entered();
        }
        if let Some(length) = call.duration
            && (marks & EXIT != 0)
        {
            self.ends.add(call.time.saturating_add(length), number, id);
        }
        let time = call.time;
        let thread = self.threads.entry(number).or_default();
        if marks & ENTRY != 0 {
            thread.times = (thread.times.1, Some(time));
            thread.indent = call.indent.saturating_add(1);
        }
        thread.open.push(call);
        if marks & ENTRY != 0 {
            self.entered = Some((number, id));
            if self.style.flat {
                self.write_entered();
            }
        }
    }

    /// Writes the begin of a call in which something happened.
    fn write_entered(&mut self) {
        let Some((number, id)) = self.entered.take() else {
            return;
        };
        let Some(thread) = self.threads.get(&number) else {
            return;
        };
        let Some(call) = thread.open.iter().rev().find(|call| call.id == id) else {
            return;
        };
        let out = &mut self.out;
        if self.style.flat {
            put(
                out,
                format_args!(
                    "[{}] ==> {}/{}: ip ({}), time ({})\n",
                    self.count,
                    call.tid,
                    call.level,
                    call.name,
                    call.time.saturating_add(self.style.start)
                ),
            );
            self.count += 1;
            return;
        }
        separate(out, &self.style, &self.fields, &mut self.last_tid, call.tid);
        let mut line = of(call, thread, &self.style);
        line.duration = None;
        backtrace(out, call, &self.fields, &line);
        cells(out, &self.fields, &line, None);
        indent(out, call.indent);
        if call.is_event {
            put(
                out,
                format_args!("/* {} */\n", call.name.replace("schedule", "sched-out")),
            );
            return;
        }
        name(out, call, &self.style);
        out.extend_from_slice(b" {\n");
    }

    fn leave(&mut self, end: &End) {
        let entered = self.entered.take();
        let merges = entered == Some((end.thread, end.id));
        if !merges && entered.is_some() {
            self.entered = entered;
            self.write_entered();
        }
        let Some(thread) = self.threads.get_mut(&end.thread) else {
            return;
        };
        let Some(place) = thread.open.iter().rposition(|call| call.id == end.id) else {
            return;
        };
        let call = thread.open.remove(place);
        thread.indent = call.outdent;
        let first = thread.times.1.is_none();
        if !merges {
            thread.times = (thread.times.1, Some(end.time));
        }
        let out = &mut self.out;
        if self.style.flat {
            let length = call.duration.unwrap_or(0);
            put(
                out,
                format_args!(
                    "[{}] <== {}/{}: ip ({}), time ({}:{length})\n",
                    self.count,
                    call.tid,
                    call.level,
                    call.name,
                    end.time.saturating_add(self.style.start)
                ),
            );
            self.count += 1;
            return;
        }
        separate(out, &self.style, &self.fields, &mut self.last_tid, call.tid);
        let mut line = of(&call, thread, &self.style);
        line.duration = line.duration.filter(|_| call.timed || !first);
        let result = call.result.as_deref().filter(|_| self.style.args);
        if merges {
            backtrace(out, &call, &self.fields, &line);
            cells(out, &self.fields, &line, None);
            indent(out, call.indent);
            if call.is_event {
                put(out, format_args!("/* {} */\n", call.name));
                return;
            }
            name(out, &call, &self.style);
            match result {
                Some(result) => put(out, format_args!(" = {result};\n")),
                None => out.extend_from_slice(b";\n"),
            }
            return;
        }
        cells(out, &self.fields, &line, None);
        indent(out, call.outdent);
        if call.is_event {
            out.extend_from_slice(b"/* linux:sched-in */\n");
            return;
        }
        out.push(b'}');
        if let Some(result) = result {
            put(out, format_args!(" = {result};"));
        }
        if self.style.comments {
            put(out, format_args!(" /* {} */", call.name));
        }
        out.push(b'\n');
    }

    /// Writes an event if the call that it happened in is shown.
    fn event(&mut self, number: u32, id: i64, time: i64, tid: i64, columns: &Columns, row: usize) {
        let within = columns.long(16, row);
        let open = |thread: &Thread| {
            let mut calls = thread.open.iter().rev();
            let call = calls.find(|call| {
                call.marks & ENTRY != 0 && !call.is_event && within.is_none_or(|id| call.id == id)
            });
            call.map(|call| call.depth)
        };
        if within.is_none() {
            self.leave_until(Some(time), number, i32::MIN);
        }
        let depth = self.threads.get(&number).and_then(open);
        self.leave_until(Some(time), number, depth.map_or(0, |depth| depth + 1));
        if depth.is_none() {
            return;
        }
        let duration = columns.long(8, row);
        if let (Some(_), Some(depth)) = (duration.filter(|_| !self.style.flat), depth) {
            self.lasting(number, depth, columns, row);
            return;
        }
        self.write_entered();
        let thread = self.threads.entry(number).or_default();
        thread.times = (thread.times.1, Some(time));
        let text = columns.text(9, row).unwrap_or_default();
        let out = &mut self.out;
        if self.style.flat {
            let time = time.saturating_add(self.style.start);
            put(
                out,
                format_args!("[{}] !!! {tid}: {text} time ({time})\n", self.count),
            );
            self.count += 1;
            return;
        }
        separate(out, &self.style, &self.fields, &mut self.last_tid, tid);
        let line = Cells {
            tid,
            duration,
            address: None,
            time: time.saturating_add(self.style.start),
            elapsed: time,
            delta: delta(thread),
            task: columns.text(14, row).unwrap_or_default(),
            module: None,
        };
        cells(out, &self.fields, &line, None);
        indent(out, if id < 0 { 0 } else { thread.indent });
        put(out, format_args!("/* {text} */\n"));
    }

    /// Begins an event that lasts: one line if nothing happens meanwhile.
    fn lasting(&mut self, number: u32, depth: i32, columns: &Columns, row: usize) {
        let thread = self.threads.entry(number).or_default();
        let indent = thread.indent;
        let call = Call {
            id: columns.long(2, row).unwrap_or(0),
            tid: columns.long(1, row).unwrap_or(0),
            time: columns.long(0, row).unwrap_or(0),
            duration: columns.long(8, row),
            depth: depth.saturating_add(1),
            level: 0,
            marks: ENTRY | EXIT,
            indent,
            outdent: indent,
            address: None,
            name: columns.text(9, row).unwrap_or_default().into(),
            args: None,
            result: None,
            module: None,
            task: columns.text(14, row).unwrap_or_default().into(),
            stack: None,
            timed: true,
            is_event: true,
        };
        self.enter(number, call);
        if let Some(thread) = self.threads.get_mut(&number) {
            thread.indent = indent;
        }
    }

    fn taken(&mut self) -> Vec<u8> {
        if !self.begun {
            self.begun = true;
            let mut first = Vec::new();
            if self.style.flat {
                first.push(b'\n');
            } else {
                header(&mut first, &self.fields);
            }
            first.append(&mut self.out);
            self.out = first;
        }
        std::mem::take(&mut self.out)
    }
}

fn delta(thread: &Thread) -> i64 {
    match thread.times {
        (Some(before), Some(now)) => now.saturating_sub(before),
        _ => 0,
    }
}

fn of<'a>(call: &'a Call, thread: &Thread, style: &Style) -> Cells<'a> {
    let time = thread.times.1.unwrap_or(call.time);
    Cells {
        tid: call.tid,
        duration: call.duration,
        address: call.address,
        time: time.saturating_add(style.start),
        elapsed: time,
        delta: delta(thread),
        task: &call.task,
        module: Some(call.module.as_deref().unwrap_or("[unknown]")),
    }
}

fn name(out: &mut Vec<u8>, call: &Call, style: &Style) {
    out.extend_from_slice(call.name.as_bytes());
    match call.args.as_deref().filter(|_| style.args) {
        Some(args) => out.extend_from_slice(args.as_bytes()),
        None if !call.name.ends_with(')') || call.name.ends_with("operator()") => {
            out.extend_from_slice(b"()");
        }
        None => {}
    }
}

fn backtrace(out: &mut Vec<u8>, call: &Call, fields: &[Field], line: &Cells) {
    let Some(stack) = call.stack.as_deref().filter(|stack| !stack.is_empty()) else {
        return;
    };
    let line = Cells {
        address: None,
        module: None,
        ..*line
    };
    for (number, name) in stack.split('\n').enumerate() {
        cells(out, fields, &line, Some("backtrace"));
        put(out, format_args!("/* [{number:2}] {name} */\n"));
    }
}

fn separate(out: &mut Vec<u8>, style: &Style, fields: &[Field], last: &mut Option<i64>, tid: i64) {
    if style.task_newline && last.is_some_and(|last| last != tid) {
        blank(out, fields);
    }
    *last = Some(tid);
}

/// Prints shown calls, batch by batch.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct Replay(Mutex<Printer>);

#[pymethods]
impl Replay {
    #[new]
    fn new(style: Style) -> PyResult<Self> {
        let named = style.fields.iter().map(|name| {
            Field::named(name).ok_or_else(|| to_python(fail(format!("there is no field `{name}`"))))
        });
        let mut fields = named.collect::<PyResult<Vec<_>>>()?;
        fields.sort_unstable();
        fields.dedup();
        Ok(Self(Mutex::new(Printer {
            style,
            fields,
            threads: FxHashMap::default(),
            numbers: FxHashMap::default(),
            ends: Ends::default(),
            entered: None,
            last_tid: None,
            count: 0,
            begun: false,
            out: Vec::new(),
        })))
    }

    /// The lines of a batch, as far as they are certain.
    fn push<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyBytes>> {
        let batch = batch.into_inner();
        let lines = py.detach(|| {
            let mut printer = self
                .0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            printer.batch(&batch).map(|()| printer.taken())
        });
        Ok(PyBytes::new(py, &lines.map_err(to_python)?))
    }

    /// The lines that are left.
    fn finish<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let lines = py.detach(|| {
            let mut printer = self
                .0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            printer.leave_until(None, 0, 0);
            printer.write_entered();
            printer.taken()
        });
        PyBytes::new(py, &lines)
    }
}
