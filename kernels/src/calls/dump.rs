//! Write the starts and ends of shown calls, in time order, as Chrome JSON events or as lines.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use super::columns::Columns;
use super::engine::{ENTRY, EXIT};
use super::layout::put;
use super::replay::EVENT;
use super::switching::{End, Ends};
use crate::exchange::InputBatch;
use crate::json::{push_finite, push_quoted};
use crate::sweeps::{fail, to_python};

/// The column after those of `CallTree`.
const PID: usize = 19;

/// An open call.
struct Call {
    id: i64,
    tid: i64,
    pid: i64,
    depth: i32,
    level: i64,
    address: i64,
    /// None if it has no end, or its end is not written.
    end: Option<i64>,
    name: Box<str>,
    args: Option<Box<str>>,
    result: Option<Box<str>>,
}

/// The format of records.
#[derive(FromPyObject)]
struct Form {
    /// Chrome JSON events, with separate begins and ends; otherwise lines, thread by thread.
    chrome: bool,
    /// Arguments are JSON objects, and main threads have numbers like other threads.
    structured: bool,
    args: bool,
    /// The offset added to times.
    start: i64,
}

struct Writer {
    form: Form,
    open: Vec<Vec<Call>>,
    numbers: FxHashMap<i64, u32>,
    ends: Ends,
    last_tid: Option<i64>,
    begun: bool,
    out: Vec<u8>,
}

impl Writer {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let columns = Columns(batch.columns());
        for row in 0..batch.num_rows() {
            let (Some(time), Some(id)) = (columns.long(0, row), columns.long(2, row)) else {
                return Err(fail("a call has no time or number"));
            };
            self.call(&columns, row, time, id)?;
        }
        Ok(())
    }

    fn call(&mut self, columns: &Columns, row: usize, time: i64, id: i64) -> Result<(), ArrowError> {
        let tid = columns.long(1, row).unwrap_or(0);
        if !self.form.chrome && self.last_tid != Some(tid) {
            self.leave_until(None, 0, 0);
            self.last_tid = Some(tid);
            put(&mut self.out, format_args!("reading {tid}.dat\n"));
        }
        let fresh = u32::try_from(self.open.len()).map_err(|_| fail("more threads than can be numbered"))?;
        let number = *self.numbers.entry(tid).or_insert(fresh);
        if number == fresh {
            self.open.push(Vec::new());
        }
        let Some((depth, marks)) = self.place(columns, row, number) else {
            return Ok(());
        };
        self.leave_until(Some(time), number, depth);
        if marks == 0 {
            return Ok(());
        }
        let call = Call {
            id,
            tid,
            pid: columns.long(PID, row).unwrap_or(tid),
            depth,
            level: columns.long(15, row).unwrap_or(0),
            address: columns.long(13, row).unwrap_or(0),
            end: columns.long(8, row).map(|length| time.saturating_add(length)),
            name: columns.text(9, row).unwrap_or_default().into(),
            args: columns.text(10, row).map(Box::from),
            result: columns.text(11, row).map(Box::from),
        };
        if self.form.chrome && self.crosses(&call, number) {
            self.complete(&call, time);
            return Ok(());
        }
        if marks & ENTRY != 0 {
            self.begin(&call, time);
        }
        if let Some(end) = call.end.filter(|_| marks & EXIT != 0) {
            self.ends.add(end, number, id);
        }
        if let Some(open) = self.open.get_mut(number as usize) {
            open.push(call);
        }
        Ok(())
    }

    /// The depth and the ends to write for a row; None for an event in a call that is not open.
    fn place(&self, columns: &Columns, row: usize, number: u32) -> Option<(i32, u8)> {
        if columns.long(17, row) != Some(EVENT) {
            let marks = match columns.marks(4, row) {
                marks if marks != 0 && self.form.chrome => ENTRY | EXIT,
                marks => marks,
            };
            return Some((columns.int(3, row), marks));
        }
        let within = columns.long(16, row)?;
        let open = self.open.get(number as usize)?;
        let above = open.iter().rev().find(|call| call.id == within)?;
        columns.long(8, row)?;
        Some((above.depth.saturating_add(1), ENTRY | EXIT))
    }

    /// Close calls that ended before a time; of those that end at it, only calls as deep in the same thread or deeper.
    fn leave_until(&mut self, time: Option<i64>, number: u32, depth: i32) {
        loop {
            let open = self.open.get(number as usize);
            let stays = |end: &End| {
                open.and_then(|open| open.iter().rev().find(|call| call.id == end.id))
                    .is_some_and(|call| call.depth < depth)
            };
            let Some(end) = self.ends.next(time.map(|time| (time, number)), stays) else {
                return;
            };
            while let Some(call) = self.closed(&end) {
                self.end(&call, end.time);
                if call.id == end.id {
                    break;
                }
            }
        }
    }

    /// Take the next call that an end closes, if its own call is still open.
    ///
    /// An end of Chrome's JSON closes the innermost open call, so calls in it that never end are closed first.
    fn closed(&mut self, end: &End) -> Option<Call> {
        let open = self.open.get_mut(end.thread as usize)?;
        let place = open.iter().rposition(|call| call.id == end.id)?;
        if self.form.chrome { open.pop() } else { Some(open.remove(place)) }
    }

    /// Whether another call of the thread ends within this one: then begins and ends cannot be matched.
    fn crosses(&self, call: &Call, number: u32) -> bool {
        let open = self.open.get(number as usize);
        let ends = open.and_then(|open| open.iter().rev().find_map(|one| one.end)).zip(call.end);
        ends.is_some_and(|(before, own)| before < own)
    }

    fn complete(&mut self, call: &Call, time: i64) {
        self.event('X', call, time);
        let length = call.end.unwrap_or(time).saturating_sub(time).max(0);
        put(&mut self.out, format_args!(",\"dur\":{}.{:03}", length / 1000, length % 1000));
        self.arguments(call);
    }

    fn begin(&mut self, call: &Call, time: i64) {
        if self.form.chrome {
            self.event('B', call, time);
            self.arguments(call);
        } else {
            self.line("entry", call, time);
        }
    }

    fn arguments(&mut self, call: &Call) {
        let out = &mut self.out;
        if let Some(args) = call.args.as_deref().filter(|_| self.form.args) {
            let inner = args.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let object = inner.filter(|one| one.starts_with('{') && one.ends_with('}'));
            if let Some(object) = object.filter(|_| self.form.structured) {
                out.extend_from_slice(b",\"args\":");
                push_finite(out, object.as_bytes());
            } else {
                out.extend_from_slice(b",\"args\":{\"arguments\":");
                push_quoted(out, with_nulls(args).as_bytes());
                out.push(b'}');
            }
        }
        out.push(b'}');
    }

    fn end(&mut self, call: &Call, time: i64) {
        if !self.form.chrome {
            self.line("exit ", call, time);
            return;
        }
        self.event('E', call, time);
        let out = &mut self.out;
        if let Some(result) = call.result.as_deref().filter(|_| self.form.args) {
            out.extend_from_slice(b",\"args\":{\"retval\":");
            push_quoted(out, with_nulls(result).as_bytes());
            out.push(b'}');
        }
        out.push(b'}');
    }

    fn line(&mut self, word: &str, call: &Call, time: i64) {
        let time = time.saturating_add(self.form.start).max(0);
        put(
            &mut self.out,
            format_args!(
                "{}.{:09}  {:7}: [{word}] {}({:x}) depth: {}\n",
                time / 1_000_000_000,
                time % 1_000_000_000,
                call.tid,
                call.name,
                call.address,
                call.level
            ),
        );
    }

    /// The start of an event, up to its name.
    fn event(&mut self, phase: char, call: &Call, time: i64) {
        let out = &mut self.out;
        if self.begun {
            out.extend_from_slice(b",\n");
        }
        self.begun = true;
        let time = time.saturating_add(self.form.start);
        let sign = if time < 0 { "-" } else { "" };
        let time = time.unsigned_abs();
        put(
            out,
            format_args!("{{\"ts\":{sign}{}.{:03},\"ph\":\"{phase}\",\"pid\":{}", time / 1000, time % 1000, call.pid),
        );
        if call.pid != call.tid || self.form.structured {
            put(out, format_args!(",\"tid\":{}", call.tid));
        }
        out.extend_from_slice(b",\"name\":");
        push_quoted(out, call.name.as_bytes());
    }
}

/// Give missing texts quotes too.
fn with_nulls(text: &str) -> String {
    const NULL: &str = "NULL";
    if !text.contains(NULL) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    let mut within: Option<char> = None;
    let mut fresh = true;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after = rest.strip_prefix(NULL).filter(|_| fresh && within.is_none());
        if let Some(after) = after.filter(|one| one.is_empty() || one.starts_with([',', ')'])) {
            out.push_str("\"NULL\"");
            rest = after;
            fresh = false;
            continue;
        }
        match within {
            Some(quote) if quote == next => within = None,
            None if next == '"' || next == '\'' => within = Some(next),
            _ => {}
        }
        fresh = next == '(' && rest.len() == text.len() || fresh && next == ' ' || next == ',';
        out.push(next);
        rest = rest.get(next.len_utf8()..).unwrap_or("");
    }
    out
}

/// Formats shown calls, batch by batch.
#[pyclass(module = "dctv._kernels")]
pub struct Dump(Writer);

#[pymethods]
impl Dump {
    #[new]
    fn new(form: Form) -> Self {
        Self(Writer {
            form,
            open: Vec::new(),
            numbers: FxHashMap::default(),
            ends: Ends::default(),
            last_tid: None,
            begun: false,
            out: Vec::new(),
        })
    }

    /// Return the records of a batch that are final.
    fn push<'py>(&mut self, py: Python<'py>, batch: InputBatch) -> PyResult<Bound<'py, PyBytes>> {
        let batch = batch.0;
        py.detach(|| self.0.batch(&batch)).map_err(to_python)?;
        Ok(PyBytes::new(py, &std::mem::take(&mut self.0.out)))
    }

    /// Return the remaining records.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        py.detach(|| self.0.leave_until(None, 0, 0));
        PyBytes::new(py, &std::mem::take(&mut self.0.out))
    }
}
