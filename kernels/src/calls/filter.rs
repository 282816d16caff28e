//! `filter_calls`: calls in order of time -> those that filters show, with their places among each other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, StringArray};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;

use super::decide::{Decision, Samples, Seen, before_range, decide, not_begun};
use super::frames::{Frame, Kept, State, Thread};
use super::functions::{Columns, Functions};
use super::patterns::Book;
use super::rules::{Rules, Trigger};
use super::switching::{End, Ends};
use crate::sweeps::{
    Cancel, Kind, Partitions, ROWS, Source, Sweep, Token, fail, gather_some, int64, made, nullable,
    schema, stream, to_python,
};

/// Its begin is shown, or was recorded.
pub const ENTRY: u8 = 1;
/// Its end is shown, or was recorded.
pub const EXIT: u8 = 2;

/// Columns between the key and the rest: id, parent, duration, name, module, size, file, arguments, marks.
const OWN: usize = 9;

/// A shown call.
struct Shown {
    row: u64,
    thread: u32,
    id: i64,
    above: Option<i64>,
    depth: i32,
    marks: u8,
    indent: i32,
    outdent: i32,
    stack: Option<Box<str>>,
}

/// A call that begins.
struct Call<'a> {
    row: u64,
    time: i64,
    thread: u32,
    id: i64,
    parent: Option<i64>,
    end: Option<i64>,
    marks: u8,
    function: u32,
    args: Option<&'a str>,
}

struct Filter {
    input: Source,
    partitions: Partitions,
    fields: Vec<FieldRef>,
    rules: Rules,
    functions: Functions,
    samples: Samples,
    threads: Vec<Thread>,
    ends: Ends,
    enabled: bool,
    finished: bool,
    /// Whether what is shown of a call depends on when it is left.
    switching: bool,
    out: Vec<Shown>,
}

/// The columns of a chunk that filters look at.
struct Chunk {
    ids: Int64Array,
    parents: Int64Array,
    lengths: Int64Array,
    args: StringArray,
    marks: Int8Array,
    codes: Vec<u32>,
}

fn integer(values: &Int64Array, row: usize) -> Option<i64> {
    values.is_valid(row).then(|| values.value(row))
}

impl Chunk {
    fn args(&self, row: usize) -> Option<&str> {
        self.args.is_valid(row).then(|| self.args.value(row))
    }

    fn marks(&self, row: usize) -> u8 {
        if self.marks.is_valid(row) {
            self.marks.value(row).cast_unsigned()
        } else {
            ENTRY | EXIT
        }
    }
}

impl Filter {
    fn chunk(&mut self) -> Result<Chunk, ArrowError> {
        let column = |number| self.input.payload_column(number);
        let integers = |number| {
            column(number).and_then(|one| one.as_primitive_opt::<Int64Type>().ok_or_else(differs))
        };
        let texts =
            |number| column(number).and_then(|one| one.as_string_opt::<i32>().ok_or_else(differs));
        let marks = column(8)?
            .as_primitive_opt::<Int8Type>()
            .ok_or_else(differs)?;
        let told = Columns {
            texts: [texts(3)?, texts(4)?, texts(6)?],
            sizes: integers(5)?,
        };
        let codes = self.functions.encode(&told, self.input.chunk.ts.len())?;
        Ok(Chunk {
            ids: integers(0)?.clone(),
            parents: integers(1)?.clone(),
            lengths: integers(2)?.clone(),
            args: texts(7)?.clone(),
            marks: marks.clone(),
            codes,
        })
    }

    fn run(&mut self) -> Result<(), ArrowError> {
        let chunk = self.chunk()?;
        while !self.input.empty() {
            let row = self.input.pos;
            let time = self.input.time();
            let marks = chunk.marks(row);
            let dur = integer(&chunk.lengths, row).map(|dur| dur.max(0));
            let call = Call {
                row: self.input.chunk.base + row as u64,
                time,
                thread: self.input.chunk.code[row],
                id: integer(&chunk.ids, row)
                    .ok_or_else(|| fail(format!("a call at {time} has no id")))?,
                parent: integer(&chunk.parents, row),
                end: dur.map(|dur| time.saturating_add(dur)),
                marks,
                function: chunk.codes[row],
                args: chunk.args(row),
            };
            self.enter(&call);
            self.input.pos += 1;
        }
        Ok(())
    }

    /// What holds outside of any call.
    fn outside(&self) -> State {
        State {
            inside: false,
            out: false,
            budget: self.rules.depth,
            time: self.rules.time,
            size: self.rules.size,
            above: None,
            depth: 0,
            level: 0,
        }
    }

    fn thread(&mut self, number: u32) -> &mut Thread {
        let (known, sure) = (self.threads.len(), number as usize + 1);
        if known < sure {
            let set = self.rules.enabled && self.rules.start.is_none();
            self.threads.resize_with(sure, || Thread {
                frames: Vec::new(),
                indent: set.then_some(0),
            });
        }
        &mut self.threads[number as usize]
    }

    fn enter(&mut self, call: &Call) {
        let place = self.thread(call.thread).place(call.parent);
        if self.switching {
            self.leave_until(Some(call), place);
        }
        let outside = self.outside();
        let thread = self.thread(call.thread);
        let place = thread.place(call.parent);
        if !self.switching {
            self.threads[call.thread as usize].forget(place, call.time);
        }
        let after = self.rules.stop.is_some_and(|stop| call.time > stop);
        let Some(function) = self
            .functions
            .get(call.function)
            .filter(|_| !self.finished && !after)
        else {
            return;
        };
        let mut state = self.threads[call.thread as usize]
            .frames
            .get(place.unwrap_or(usize::MAX))
            .map_or(outside, |frame| frame.state);
        let trigger = &function.trigger;
        let begun = call.marks & ENTRY != 0;
        let early = self.rules.start.is_some_and(|start| call.time < start);
        if begun {
            state.time = trigger.time.unwrap_or(state.time);
            state.size = trigger.size.unwrap_or(state.size);
        }
        let small = state.size > 0 && function.size.is_none_or(|size| size < state.size);
        if small {
            self.push(call, state, Kept::Skipped);
            return;
        }
        let seen = Seen {
            thread: call.thread,
            function: call.function,
            trigger,
            args: call.args,
        };
        let decision = if !begun {
            not_begun(&self.rules, state, trigger, call.marks & EXIT != 0)
        } else if early {
            before_range(&self.rules, state, &seen)
        } else {
            decide(&self.rules, state, &seen, self.enabled, &mut self.samples)
        };
        let kept = early || self.keeps(call, &decision.state, trigger);
        let told = trigger.backtrace;
        self.begin(call, decision, kept, early, told);
    }

    /// Whether a call is kept whatever it calls.
    fn keeps(&self, call: &Call, state: &State, trigger: &Trigger) -> bool {
        let Some(end) = call.end.filter(|_| call.marks & EXIT != 0) else {
            return true;
        };
        let long = end.saturating_sub(call.time) >= state.time;
        trigger.trace || long && (trigger.caller || !self.rules.callers)
    }

    fn begin(&mut self, call: &Call, decision: Decision, kept: bool, early: bool, told: bool) {
        if let Some(on) = decision.turned {
            self.enabled = on;
        }
        let enabled = self.enabled;
        let thread = &mut self.threads[call.thread as usize];
        let before = thread.indent;
        if decision.turned == Some(false) {
            thread.indent = None;
        }
        let mut state = decision.state;
        let (above, depth, level) = (state.above, state.depth, state.level);
        let entered = decision.recorded && enabled && !early;
        let leaves = call
            .end
            .is_some_and(|end| call.marks & EXIT != 0 && self.rules.covers(end));
        let indent = if self.switching {
            thread.indent.unwrap_or(level)
        } else {
            depth
        };
        if entered {
            thread.indent = Some(indent.saturating_add(1));
        }
        let counts = entered || (early && decision.recorded && leaves && !self.rules.toggles);
        if counts {
            state.above = Some(call.id);
            state.depth = depth.saturating_add(1);
        }
        state.level = level.saturating_add(1);
        let stack = (told && entered).then(|| self.stack(call));
        let thread = &mut self.threads[call.thread as usize];
        let frame = Frame {
            id: call.id,
            parent: call.parent,
            end: call.end,
            row: call.row,
            kept: if kept { Kept::Yes } else { Kept::Waiting },
            recorded: decision.recorded,
            entered,
            depth,
            above,
            indent,
            before,
            marks: call.marks & if leaves { ENTRY | EXIT } else { ENTRY },
            function: call.function,
            stack,
            state,
        };
        let place = thread.place(call.parent);
        let (out, number) = (&mut self.out, call.thread);
        if kept {
            let switching = self.switching;
            let mut give = |frame: &Frame| {
                if frame.entered && !switching {
                    out.push(shown(frame, number));
                }
            };
            thread.keep(place, &mut give);
            give(&frame);
        }
        thread.frames.push(frame);
        if let Some(end) = call.end.filter(|_| self.switching) {
            self.ends.add(end, call.thread, call.id);
        }
        if decision.finished && enabled {
            self.finish();
        }
    }

    /// The names of the calls that one is in, outermost first.
    fn stack(&self, call: &Call) -> Box<str> {
        let Some(thread) = self.threads.get(call.thread as usize) else {
            return Box::default();
        };
        let (mut at, mut names) = (thread.place(call.parent), Vec::new());
        while let Some(frame) = at.and_then(|place| thread.frames.get(place)) {
            if frame.kept != Kept::Skipped
                && let Some(function) = self.functions.get(frame.function)
            {
                names.push(&*function.name);
            }
            at = thread.place(frame.parent);
        }
        names.reverse();
        names.join("\n").into()
    }

    /// Adds a call that is passed over.
    fn push(&mut self, call: &Call, state: State, kept: Kept) {
        let frame = Frame {
            id: call.id,
            parent: call.parent,
            end: call.end,
            row: call.row,
            kept,
            recorded: false,
            entered: false,
            depth: state.depth,
            above: state.above,
            indent: 0,
            before: None,
            marks: 0,
            function: call.function,
            stack: None,
            state,
        };
        if let Some(end) = call.end.filter(|_| self.switching) {
            self.ends.add(end, call.thread, call.id);
        }
        self.threads[call.thread as usize].frames.push(frame);
    }

    /// Ends the calls that were over before another begins; all of them without one.
    fn leave_until(&mut self, call: Option<&Call>, place: Option<usize>) {
        loop {
            let threads = &self.threads;
            let stays = |end: &End| {
                let open = call.filter(|call| call.thread == end.thread).zip(place);
                open.is_some_and(|(_, place)| {
                    let thread = threads.get(end.thread as usize);
                    thread.and_then(|thread| thread.place(Some(end.id))) <= Some(place)
                })
            };
            let Some(end) = self.ends.next(call.map(|call| call.time), stays) else {
                return;
            };
            self.leave(&end);
        }
    }

    fn leave(&mut self, end: &End) {
        let Some(thread) = self.threads.get_mut(end.thread as usize) else {
            return;
        };
        let Some(place) = thread.place(Some(end.id)) else {
            return;
        };
        let mut frame = thread.frames.remove(place);
        if frame.kept != Kept::Yes {
            // What is passed over has not moved the calls after it.
            if frame.kept == Kept::Waiting && thread.indent.is_some() {
                thread.indent = frame.before;
            }
            return;
        }
        if self.finished {
            return;
        }
        let leaves = frame.recorded && self.enabled && frame.marks & EXIT != 0;
        let mut outdent = frame.indent;
        if leaves {
            let from = thread.indent.unwrap_or(frame.state.level.saturating_add(0));
            outdent = from.saturating_sub(1).max(0);
            thread.indent = Some(outdent);
        } else {
            frame.marks &= ENTRY;
        }
        if frame.entered || leaves {
            let mut one = shown(&frame, end.thread);
            one.outdent = outdent;
            self.out.push(one);
        }
    }

    /// Shows what is still open, and nothing from now on.
    fn finish(&mut self) {
        self.finished = true;
        for (number, thread) in self.threads.iter_mut().enumerate() {
            for frame in &mut thread.frames {
                if frame.entered && frame.kept == Kept::Yes && self.switching {
                    frame.marks &= ENTRY;
                    self.out.push(shown(frame, number as u32));
                }
            }
            thread.frames.clear();
        }
    }

    fn release(&mut self) {
        if self.input.held.is_full() {
            let open = self.threads.iter().flat_map(|thread| &thread.frames);
            let open = open.filter(|frame| self.switching || frame.kept == Kept::Waiting);
            let waiting = self.out.iter().map(|one| one.row);
            self.input
                .held
                .retain(open.map(|frame| frame.row).chain(waiting));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let times = out.iter().map(|one| self.input.held.time(one.row));
        let mut columns = vec![int64(times.collect())];
        let threads = out.iter().map(|one| one.thread).collect();
        columns.extend(self.partitions.columns(threads)?);
        columns.push(int64(out.iter().map(|one| one.id).collect()));
        columns.push(Arc::new(
            out.iter().map(|one| one.above).collect::<Int64Array>(),
        ));
        let depths = |of: fn(&Shown) -> i32| -> ArrayRef {
            Arc::new(Int32Array::from_iter_values(out.iter().map(of)))
        };
        columns.push(depths(|one| one.depth));
        let marks = out.iter().map(|one| one.marks.cast_signed());
        columns.push(Arc::new(Int8Array::from_iter_values(marks)));
        columns.push(depths(|one| one.indent));
        columns.push(depths(|one| one.outdent));
        let stacks = out.iter().map(|one| one.stack.as_deref());
        columns.push(Arc::new(stacks.collect::<StringArray>()));
        let types = self.fields.iter().map(|field| field.data_type());
        let wanted: Vec<_> = types.enumerate().skip(OWN).collect();
        let rows: Vec<u64> = out.iter().map(|one| one.row).collect();
        columns.extend(gather_some(&self.input.held, &wanted, &rows)?);
        Ok(columns)
    }
}

fn differs() -> ArrowError {
    fail("a batch differs from its stream's schema")
}

fn shown(frame: &Frame, thread: u32) -> Shown {
    let entry = if frame.entered { ENTRY } else { 0 };
    Shown {
        row: frame.row,
        thread,
        id: frame.id,
        above: frame.above,
        depth: frame.depth,
        marks: frame.marks & (entry | EXIT),
        indent: frame.indent,
        outdent: frame.indent,
        stack: frame.stack.clone(),
    }
}

impl Sweep for Filter {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while self.out.len() < ROWS {
            self.input.fill(&mut self.partitions)?;
            if self.input.done {
                if self.switching && !self.finished {
                    self.leave_until(None, None);
                    self.finish();
                }
                break;
            }
            self.run()?;
            self.release();
        }
        if self.out.is_empty() && self.input.done {
            return Ok(None);
        }
        self.flush().map(Some)
    }
}

#[pyfunction]
#[pyo3(signature = (calls, *, rules, names, cancel=None))]
pub fn filter_calls(
    calls: AnyRecordBatch,
    mut rules: Rules,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<PyRecordBatchReader> {
    let cancel = Token::new(cancel);
    let open = || -> Result<_, ArrowError> {
        let input = Source::new(
            calls
                .into_reader()
                .map_err(|error| fail(error.to_string()))?,
            Kind::Events,
            1,
            "calls",
            cancel.clone(),
        )?;
        let fields = input.payload_fields();
        check(&fields)?;
        let keys = input.partition_fields();
        let partitions = Partitions::new(&["thread".to_owned()], input.partition_types())?;
        let mut made_fields = vec![made(DataType::Int64, false)];
        made_fields.extend(nullable(keys));
        made_fields.push(made(DataType::Int64, false));
        made_fields.push(made(DataType::Int64, true));
        made_fields.push(made(DataType::Int32, false));
        made_fields.push(made(DataType::Int8, false));
        made_fields.extend([(); 2].map(|()| made(DataType::Int32, false)));
        made_fields.push(made(DataType::Utf8, true));
        made_fields.extend(nullable(fields.iter().skip(OWN).cloned().collect()));
        let schema = schema(made_fields, &names)?;
        let book = Book::new(std::mem::take(&mut rules.rules), &rules.kind).map_err(fail)?;
        let enabled = rules.enabled;
        let switching = rules.toggles || !enabled || rules.start.is_some();
        let sweep = Filter {
            input,
            partitions,
            fields,
            rules,
            functions: Functions::new(book),
            samples: Samples::default(),
            threads: Vec::new(),
            ends: Ends::default(),
            enabled,
            finished: false,
            switching,
            out: Vec::new(),
        };
        Ok((schema, sweep))
    };
    let (schema, sweep) = open().map_err(to_python)?;
    Ok(stream(schema, sweep, cancel))
}

fn check(fields: &[FieldRef]) -> Result<(), ArrowError> {
    let expected = [
        DataType::Int64,
        DataType::Int64,
        DataType::Int64,
        DataType::Utf8,
        DataType::Utf8,
        DataType::Int64,
        DataType::Utf8,
        DataType::Utf8,
        DataType::Int8,
    ];
    let found = fields.iter().map(|field| field.data_type());
    let fits = fields.len() >= OWN && found.zip(&expected).all(|(one, other)| one == other);
    if fits {
        return Ok(());
    }
    let found: Vec<_> = fields.iter().map(|field| field.data_type()).collect();
    Err(fail(format!(
        "columns after the thread are {found:?}, expected them to begin with {expected:?}"
    )))
}
