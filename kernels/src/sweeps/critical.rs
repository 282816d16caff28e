//! `critical_path`: trace the waits of one thread, from states of threads, through the threads that woke it.

use std::sync::Arc;

use arrow_array::builder::{Int8Builder, Int64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::partition::Partitions;
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{Sweep, int64, made, schema, stream};
use crate::exchange::{InputStream, OutputStream};

/// The columns after `_ts`: end, tid, state, cpu, end_line, waker_tid and context of the wakeup that ended it.
const OWN: [DataType; 7] = [
    DataType::Int64,
    DataType::Int64,
    DataType::Int8,
    DataType::Int64,
    DataType::Int64,
    DataType::Int64,
    DataType::Int8,
];

const SLEEPING: i8 = 1;
const UNINTERRUPTIBLE: i8 = 2;
const UNKNOWN: i8 = 4;

/// Why the path does not continue through a stretch.
const WORKED: i8 = 0;
const INTERRUPT: i8 = 1;
const NOBODY: i8 = 2;
const OPEN: i8 = 3;
const CIRCLE: i8 = 4;
const NOTHING: i8 = 5;

/// One state of one thread; the wakeup that ended it is given by its place in the trace and its waker.
#[derive(Clone, Copy)]
struct State {
    ts: i64,
    end: i64,
    end_line: i64,
    waker: Option<i64>,
    cpu: Option<i64>,
    state: i8,
    context: Option<i8>,
}

impl State {
    fn blocked(&self) -> bool {
        matches!(self.state, SLEEPING | UNINTERRUPTIBLE)
    }
}

/// A stretch of time to be emitted: its thread, its depth, and the wakeup before which it must end.
#[derive(Clone, Copy)]
struct Task {
    tid: i64,
    lo: i64,
    hi: i64,
    limit: (i64, i64),
    depth: i64,
}

struct Piece {
    ts: i64,
    end: i64,
    tid: i64,
    state: i8,
    cpu: Option<i64>,
    depth: i64,
    reason: i8,
}

struct Critical {
    input: ChunkedInput,
    partitions: Partitions,
    tid: i64,
    span: (i64, i64),
    threads: FxHashMap<i64, Vec<State>>,
    /// The top is emitted next.
    tasks: Vec<Task>,
    loaded: bool,
    cancel: Token,
}

impl Critical {
    fn load(&mut self) -> Result<(), ArrowError> {
        self.loaded = true;
        loop {
            self.input.fill(&mut self.partitions)?;
            if self.input.done {
                break;
            }
            self.gather()?;
            self.input.pos = self.input.chunk.ts.len();
            self.input.held.retain(std::iter::empty());
        }
        let (lo, hi) = self.span;
        if lo < hi {
            self.tasks.push(Task { tid: self.tid, lo, hi, limit: (i64::MAX, i64::MAX), depth: 0 });
        }
        Ok(())
    }

    fn gather(&mut self) -> Result<(), ArrowError> {
        let column = |at| self.input.payload_column(at).cloned();
        let (end, tid, state, cpu) = (column(0)?, column(1)?, column(2)?, column(3)?);
        let (line, waker, context) = (column(4)?, column(5)?, column(6)?);
        let [end, tid, cpu, line, waker] = [&end, &tid, &cpu, &line, &waker].map(|c| c.as_primitive::<Int64Type>());
        let [state, context] = [&state, &context].map(|c| c.as_primitive::<Int8Type>());
        for (row, &ts) in self.input.chunk.ts.iter().enumerate() {
            if tid.is_null(row) {
                continue;
            }
            let own = State {
                ts,
                end: if end.is_null(row) { i64::MAX } else { end.value(row) },
                end_line: if line.is_null(row) { 0 } else { line.value(row) },
                waker: waker.is_valid(row).then(|| waker.value(row)),
                cpu: cpu.is_valid(row).then(|| cpu.value(row)),
                state: if state.is_null(row) { UNKNOWN } else { state.value(row) },
                context: context.is_valid(row).then(|| context.value(row)),
            };
            if own.end > ts && own.end > self.span.0 && ts < self.span.1 {
                self.threads.entry(tid.value(row)).or_default().push(own);
            }
        }
        Ok(())
    }

    /// Emit the first piece of a stretch; the rest is pushed back, above the stretches to be followed.
    fn step(&mut self, task: Task) -> Option<Piece> {
        let states = self.threads.get(&task.tid).map_or(&[][..], Vec::as_slice);
        let at = states.partition_point(|state| state.end <= task.lo);
        let piece = |end: i64, state: i8, cpu, reason| Piece {
            ts: task.lo,
            end,
            tid: task.tid,
            state,
            cpu,
            depth: task.depth,
            reason,
        };
        let inside = |state: &State| state.ts < task.hi && state.end > task.lo;
        let Some(state) = states.get(at).copied().filter(inside) else {
            return Some(piece(task.hi, UNKNOWN, None, NOTHING));
        };
        if state.ts > task.lo {
            self.rest(task, state.ts);
            return Some(piece(state.ts, UNKNOWN, None, NOTHING));
        }
        let end = state.end.min(task.hi);
        self.rest(task, end);
        let reason = reason(&state, &task);
        if let (WORKED, true, Some(waker)) = (reason, state.blocked(), state.waker) {
            self.tasks.push(Task {
                tid: waker,
                lo: task.lo,
                hi: end,
                limit: (state.end, state.end_line),
                depth: task.depth.saturating_add(1),
            });
            return None;
        }
        Some(piece(end, state.state, state.cpu, reason))
    }

    fn rest(&mut self, task: Task, from: i64) {
        if from < task.hi {
            self.tasks.push(Task { lo: from, ..task });
        }
    }
}

/// `WORKED` if a state is not a wait, or a wait with a waker that can be followed.
fn reason(state: &State, task: &Task) -> i8 {
    if !state.blocked() {
        WORKED
    } else if state.end == i64::MAX {
        OPEN
    } else if state.context == Some(1) || state.waker == Some(0) {
        INTERRUPT
    } else if state.waker.is_none() {
        NOBODY
    } else if (state.end, state.end_line) >= task.limit {
        CIRCLE
    } else {
        WORKED
    }
}

impl Sweep for Critical {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if !self.loaded {
            self.load()?;
        }
        let mut out = Vec::new();
        let mut steps = 0_usize;
        while out.len() < ROWS
            && let Some(task) = self.tasks.pop()
        {
            steps += 1;
            if steps.is_multiple_of(ROWS) {
                self.cancel.check()?;
            }
            out.extend(self.step(task));
        }
        Ok((!out.is_empty()).then(|| flush(&out)))
    }
}

fn flush(out: &[Piece]) -> Vec<ArrayRef> {
    let mut cpus = Int64Builder::with_capacity(out.len());
    let (mut states, mut reasons) = (Int8Builder::new(), Int8Builder::new());
    for piece in out {
        cpus.append_option(piece.cpu);
        states.append_value(piece.state);
        reasons.append_value(piece.reason);
    }
    vec![
        int64(out.iter().map(|piece| piece.ts).collect()),
        int64(out.iter().map(|piece| piece.end.saturating_sub(piece.ts)).collect()),
        int64(out.iter().map(|piece| piece.tid).collect()),
        Arc::new(states.finish()),
        Arc::new(cpus.finish()),
        int64(out.iter().map(|piece| piece.depth).collect()),
        Arc::new(reasons.finish()),
    ]
}

#[pyfunction]
#[pyo3(signature = (states, *, tid, start, end, names, cancel=None))]
pub fn critical_path(
    states: InputStream,
    tid: i64,
    start: i64,
    end: i64,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let input = ChunkedInput::new(states.into_reader(), Kind::Events, 0, "state", token.clone());
    build(input.map_err(to_python)?, tid, (start, end), &names, token).map_err(to_python)
}

fn build(
    input: ChunkedInput,
    tid: i64,
    span: (i64, i64),
    names: &[String],
    cancel: Token,
) -> Result<OutputStream, ArrowError> {
    let fields = input.payload_fields();
    let types: Vec<&DataType> = fields.iter().map(|field| field.data_type()).collect();
    if types != OWN.iter().collect::<Vec<_>>() {
        return Err(fail(format!("columns of the state input are {types:?}, expected {OWN:?}")));
    }
    let (i8, i64) = (DataType::Int8, DataType::Int64);
    let own = [(&i64, false), (&i64, false), (&i64, false), (&i8, false), (&i64, true), (&i64, false), (&i8, false)];
    let fields = own.iter().map(|(kind, nulls)| made((*kind).clone(), *nulls)).collect();
    let schema = schema(fields, names)?;
    let partitions = Partitions::new(&[], Vec::new())?;
    let sweep = Critical {
        input,
        partitions,
        tid,
        span,
        threads: FxHashMap::default(),
        tasks: Vec::new(),
        loaded: false,
        cancel: cancel.clone(),
    };
    Ok(stream(schema, sweep, cancel))
}
