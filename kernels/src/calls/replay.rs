//! Print shown calls and events in time order as lines of text; a call without callees or events takes one line.

use std::sync::Arc;

use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use super::columns::Columns;
use super::engine::{ENTRY, EXIT};
use super::layout::{Cells, Field, blank, cells, header, indent, put};
use super::paint::{Color, Painter, painted, values};
use super::patterns::Book;
use super::style::Style;
use super::switching::{End, Ends};
use crate::exchange::InputBatch;
use crate::sweeps::{fail, to_python};

/// A call to print.
pub struct Call {
    pub id: i64,
    pub tid: i64,
    pub time: i64,
    pub duration: Option<i64>,
    pub depth: i32,
    pub level: i64,
    pub marks: u8,
    pub indent: i32,
    pub outdent: i32,
    pub address: Option<i64>,
    pub name: Arc<str>,
    pub args: Option<Arc<str>>,
    pub result: Option<Arc<str>>,
    pub module: Option<Arc<str>>,
    pub task: Arc<str>,
    pub stack: Option<Box<str>>,
    /// Its start was recorded; otherwise nothing is known before the first line of its thread.
    pub timed: bool,
    /// It is an event with a duration, not a call: its start and its end have different names.
    pub is_event: bool,
    /// The colour of its name, or of an event.
    pub color: Option<Color>,
}

/// The type of a row: an event, or a call without a recorded start; otherwise a call.
pub(super) const EVENT: i64 = 1;
pub const UNTIMED: i64 = 2;
/// The level of an event for lost records, which is shown at any level.
const LOSS: i64 = -2;

#[derive(Default)]
struct Thread {
    open: Vec<Call>,
    /// The times of the last line, and of the one before.
    times: (Option<i64>, Option<i64>),
    indent: i32,
    /// The indentation of all of its lines, if each thread has a column of its own.
    column: Option<i32>,
    /// The colour of the function entered last.
    color: Option<Color>,
}

impl Thread {
    /// Drops calls from a depth on that were never left, as after a jump.
    fn forget(&mut self, depth: i32) {
        while let Some(last) = self.open.last()
            && last.marks & EXIT == 0
            && last.depth >= depth
        {
            self.open.pop();
        }
    }
}

/// Prints rows one after the other.
pub struct Printer {
    style: Style,
    fields: Vec<Field>,
    threads: FxHashMap<u32, Thread>,
    numbers: FxHashMap<i64, u32>,
    painter: Painter,
    columns: i32,
    ends: Ends,
    /// A call without a printed line, since it may be left before anything else happens.
    entered: Option<(u32, i64)>,
    last_tid: Option<i64>,
    count: u64,
    begun: bool,
    out: Vec<u8>,
}

impl Printer {
    pub fn new(style: Style) -> Result<Self, ArrowError> {
        let named = style
            .fields
            .iter()
            .map(|name| Field::named(name).ok_or_else(|| fail(format!("there is no field `{name}`"))));
        let fields = named.collect::<Result<Vec<_>, _>>()?;
        let rules = style.rules.clone();
        let book = style.colored.then(|| Book::new(rules, &style.kind));
        Ok(Self {
            painter: Painter::new(book.transpose().map_err(fail)?),
            columns: 0,
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
        })
    }

    /// The number of a thread.
    pub fn number(&mut self, tid: i64) -> Result<u32, ArrowError> {
        let fresh = u32::try_from(self.numbers.len()).map_err(|_| fail("more threads than can be numbered"))?;
        Ok(*self.numbers.entry(tid).or_insert(fresh))
    }

    /// Print the lines of a row that are final.
    pub fn row(&mut self, columns: &Columns, row: usize) -> Result<(), ArrowError> {
        let (Some(time), Some(id)) = (columns.long(0, row), columns.long(2, row)) else {
            return Err(fail("a call has no time or number"));
        };
        let tid = columns.long(1, row).unwrap_or(0);
        let number = self.number(tid)?;
        let kind = columns.long(17, row);
        if kind == Some(EVENT) {
            self.event(number, id, time, tid, columns, row);
            return Ok(());
        }
        let text = |column| columns.text(column, row).map(Arc::from);
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
            stack: columns.text(7, row).map(Box::from),
            timed: kind != Some(UNTIMED),
            is_event: false,
            color: self.color(columns.text(9, row).unwrap_or(""), columns.text(12, row)),
        };
        self.enter(number, call);
        Ok(())
    }

    /// Print the rest.
    pub fn finish(&mut self) {
        self.leave_until(None, 0, 0);
        self.write_entered();
    }

    /// Bytes of final lines.
    pub fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Close calls that ended before a time; of those that end at it, only calls as deep in the same thread or deeper.
    fn leave_until(&mut self, time: Option<i64>, number: u32, depth: i32) {
        loop {
            let thread = self.threads.get(&number);
            let stays = |end: &End| {
                thread
                    .and_then(|thread| thread.open.iter().rev().find(|call| call.id == end.id))
                    .is_some_and(|call| call.depth < depth)
            };
            let Some(end) = self.ends.next(time.map(|time| (time, number)), stays) else {
                return;
            };
            self.leave(&end);
        }
    }

    /// The colour of a function.
    pub fn color(&mut self, name: &str, module: Option<&str>) -> Option<Color> {
        self.painter.of(name, module)
    }

    /// Move a call into the column of its thread.
    fn shift(&mut self, number: u32, call: &mut Call) {
        if self.style.offset == 0 || call.is_event {
            return;
        }
        let thread = self.threads.entry(number).or_default();
        let column = *thread.column.get_or_insert_with(|| {
            self.columns = self.columns.saturating_add(1);
            (self.columns - 1).saturating_mul(self.style.offset)
        });
        call.indent = call.indent.saturating_add(column);
        call.outdent = call.outdent.saturating_add(column);
    }

    pub fn enter(&mut self, number: u32, mut call: Call) {
        self.leave_until(Some(call.time), number, call.depth);
        let (id, marks) = (call.id, call.marks);
        if marks == 0 {
            return;
        }
        if marks & ENTRY != 0 {
            self.write_entered();
        }
        self.shift(number, &mut call);
        if let Some(length) = call.duration
            && (marks & EXIT != 0)
        {
            self.ends.add(call.time.saturating_add(length), number, id);
        }
        let time = call.time;
        let thread = self.threads.entry(number).or_default();
        if marks & ENTRY != 0 {
            thread.forget(call.depth);
            thread.times = (thread.times.1, Some(time));
            thread.indent = call.indent.saturating_add(1);
            if !call.is_event {
                thread.color = call.color;
            }
        }
        thread.open.push(call);
        if marks & ENTRY != 0 {
            self.entered = Some((number, id));
            if self.style.flat || !self.style.merge {
                self.write_entered();
            }
        }
    }

    /// Print the start of a call with callees or events.
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
            let text = call.name.replace("schedule", "sched-out");
            painted(out, call.color, format_args!("/* {text} */"));
            out.push(b'\n');
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
        thread.forget(call.depth.saturating_add(1));
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
                painted(out, call.color, format_args!("/* {} */", call.name));
                out.push(b'\n');
                return;
            }
            name(out, &call, &self.style);
            if let Some(result) = result {
                out.extend_from_slice(b" = ");
                values(out, result, self.style.colored);
            }
            out.extend_from_slice(b";\n");
            return;
        }
        cells(out, &self.fields, &line, None);
        indent(out, call.outdent);
        if call.is_event {
            painted(out, call.color, format_args!("/* linux:sched-in */"));
            out.push(b'\n');
            return;
        }
        out.push(b'}');
        if let Some(result) = result {
            out.extend_from_slice(b" = ");
            values(out, result, self.style.colored);
            out.push(b';');
        }
        if self.style.comments {
            let gray = self.painter.plain(Color::Gray);
            painted(out, gray, format_args!(" /* {} */", call.name));
        }
        out.push(b'\n');
    }

    /// Print an event if the call around it is shown.
    fn event(&mut self, number: u32, id: i64, time: i64, tid: i64, columns: &Columns, row: usize) {
        let level = columns.long(15, row).unwrap_or(0);
        let loss = level == LOSS;
        let within = columns.long(16, row);
        let open = |thread: &Thread| {
            let mut calls = thread.open.iter().rev();
            let call = calls.find(|call| {
                let shown = call.marks & ENTRY != 0 || !call.timed;
                shown && !call.is_event && within.is_none_or(|id| call.id == id)
            });
            // No line of a call whose start was not recorded has set the indentation.
            call.map(|call| (call.depth, (!call.timed).then(|| call.indent.saturating_add(1))))
        };
        if within.is_none() {
            self.leave_until(Some(time), number, i32::MIN);
        }
        let around = self.threads.get(&number).and_then(open);
        let depth = around.map(|(depth, _)| depth);
        self.leave_until(Some(time), number, depth.map_or(0, |depth| depth + 1));
        if depth.is_none() && !loss {
            return;
        }
        if let (Some(thread), Some((_, Some(indent)))) = (self.threads.get_mut(&number), around) {
            thread.indent = indent;
        }
        let duration = columns.long(8, row);
        if let (Some(_), Some(depth)) = (duration.filter(|_| !self.style.flat), depth) {
            self.lasting(number, depth, columns, row);
            return;
        }
        self.write_entered();
        let thread = self.threads.entry(number).or_default();
        let time = if loss {
            thread.times.1.unwrap_or(time)
        } else {
            thread.times = (thread.times.1, Some(time));
            time
        };
        let text = columns.text(9, row).unwrap_or_default();
        let out = &mut self.out;
        if self.style.flat {
            let number = self.count;
            let told = time.saturating_add(self.style.start);
            match columns.text(10, row).filter(|_| loss) {
                Some(text) => put(out, format_args!("[{number}] XXX {tid}: {text}\n")),
                None => put(out, format_args!("[{number}] !!! {tid}: {text} time ({told})\n")),
            }
            self.count += 1;
            return;
        }
        separate(out, &self.style, &self.fields, &mut self.last_tid, tid);
        let line = Cells {
            tid,
            duration,
            address: None,
            time: time.saturating_add(self.style.start),
            elapsed: time.saturating_sub(self.style.first),
            delta: delta(thread),
            task: columns.text(14, row).unwrap_or_default(),
            module: None,
            colored: self.style.colored,
        };
        cells(out, &self.fields, &line, None);
        let within = if level < 0 || id < 0 { 0 } else { thread.indent };
        indent(out, if loss { thread.indent + 1 } else { within });
        let own = thread.color.unwrap_or(Color::Green);
        let color = self.painter.plain(if loss { Color::Red } else { own });
        painted(out, color, format_args!("/* {text} */"));
        out.push(b'\n');
    }

    /// Start an event with a duration: one line if nothing happens meanwhile.
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
            color: self.painter.plain(thread.color.unwrap_or(Color::Green)),
        };
        self.enter(number, call);
        if let Some(thread) = self.threads.get_mut(&number) {
            thread.indent = indent;
        }
    }

    pub fn taken(&mut self) -> Vec<u8> {
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
        elapsed: time.saturating_sub(style.first),
        delta: delta(thread),
        task: &call.task,
        module: Some(call.module.as_deref().unwrap_or("[unknown]")),
        colored: style.colored,
    }
}

fn name(out: &mut Vec<u8>, call: &Call, style: &Style) {
    painted(out, call.color, format_args!("{}", call.name));
    match call.args.as_deref().filter(|_| style.args) {
        Some(args) => values(out, args, style.colored),
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
    let line = Cells { address: None, module: None, ..*line };
    for (number, name) in stack.split('\n').enumerate() {
        cells(out, fields, &line, Some("backtrace"));
        let gray = line.colored.then_some(Color::Gray);
        painted(out, gray, format_args!("/* [{number:2}] {name} */"));
        out.push(b'\n');
    }
}

fn separate(out: &mut Vec<u8>, style: &Style, fields: &[Field], last: &mut Option<i64>, tid: i64) {
    if style.task_newline && last.is_some_and(|last| last != tid) {
        blank(out, fields);
    }
    *last = Some(tid);
}

/// Prints shown calls, batch by batch.
#[pyclass(module = "dctv._kernels")]
pub struct Replay(Printer);

#[pymethods]
impl Replay {
    #[new]
    fn new(style: Style) -> PyResult<Self> {
        Printer::new(style).map(Self).map_err(to_python)
    }

    /// Return the lines of a batch that are final.
    fn push<'py>(&mut self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let batch = batch.0;
        let columns = Columns(batch.columns());
        py.detach(|| (0..batch.num_rows()).try_for_each(|row| self.0.row(&columns, row))).map_err(to_python)?;
        Ok(PyBytes::new(py, &self.0.taken()))
    }

    /// Return the remaining lines.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        py.detach(|| self.0.finish());
        PyBytes::new(py, &self.0.taken())
    }
}
