//! `thread_states`: derive the states of each thread, from one change to the next, from switches and wakeups in order.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int8Builder, Int64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int64Array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::gather::gather_some;
use super::partition::Partitions;
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{Sweep, int64, made, nullable, schema, stream};
use crate::exchange::{InputStream, OutputStream};

/// The columns before the payload: kind, cpu, target_cpu, tid, other_tid, code, line.
const OWN: [DataType; 7] = [
    DataType::Int8,
    DataType::Int64,
    DataType::Int64,
    DataType::Int64,
    DataType::Int64,
    DataType::Int8,
    DataType::Int64,
];

const SWITCH: i8 = 0;
const WAKEUP: i8 = 1;

const RUNNABLE: i8 = 0;
const UNKNOWN: i8 = 4;
const RUNNING: i8 = 5;

/// A state that lasts until the thread's next change.
#[derive(Clone, Copy, Default)]
struct State {
    ts: i64,
    line: Option<i64>,
    cpu: Option<i64>,
    waker: Option<i64>,
    row: u64,
    context: Option<i8>,
    state: i8,
    /// 0 if it is the state of the event's `tid`, 1 of `other_tid`.
    side: i8,
    woken: bool,
}

#[derive(Default)]
struct Thread {
    open: Option<State>,
    /// The CPU that switched it in, unless it was seen elsewhere since.
    on: Option<Option<i64>>,
}

struct States {
    input: ChunkedInput,
    fields: Vec<FieldRef>,
    partitions: Partitions,
    threads: FxHashMap<i64, Thread>,
    running: FxHashMap<Option<i64>, Option<i64>>,
    out: Vec<(i64, State, Option<State>)>,
    ended: bool,
}

/// The columns of the current chunk.
struct Columns {
    kind: Int8Array,
    cpu: Int64Array,
    target: Int64Array,
    tid: Int64Array,
    other: Int64Array,
    code: Int8Array,
    line: Int64Array,
}

fn at8(column: &Int8Array, row: usize) -> Option<i8> {
    column.is_valid(row).then(|| column.value(row))
}

fn at64(column: &Int64Array, row: usize) -> Option<i64> {
    column.is_valid(row).then(|| column.value(row))
}

/// Threads have ids above 0; 0 is idle, of which each CPU has one.
fn thread(tid: Option<i64>) -> Option<i64> {
    tid.filter(|&tid| tid != 0)
}

impl States {
    fn columns(&self) -> Result<Columns, ArrowError> {
        let int8 = |column| {
            let found = self.input.payload_column(column)?;
            Ok::<_, ArrowError>(found.as_primitive::<Int8Type>().clone())
        };
        let int64 = |column| {
            let found = self.input.payload_column(column)?;
            Ok::<_, ArrowError>(found.as_primitive::<Int64Type>().clone())
        };
        Ok(Columns {
            kind: int8(0)?,
            cpu: int64(1)?,
            target: int64(2)?,
            tid: int64(3)?,
            other: int64(4)?,
            code: int8(5)?,
            line: int64(6)?,
        })
    }

    fn run(&mut self) -> Result<(), ArrowError> {
        let columns = self.columns()?;
        while !self.input.empty() && self.out.len() < ROWS {
            let row = self.input.pos;
            match at8(&columns.kind, row) {
                Some(SWITCH) => self.switch(&columns, row),
                Some(WAKEUP) => self.wakeup(&columns, row),
                _ => return Err(fail("kind is not 0 or 1")),
            }
            self.input.pos += 1;
        }
        Ok(())
    }

    fn change(&mut self, tid: i64, new: State) {
        let thread = self.threads.entry(tid).or_default();
        if let Some(before) = thread.open.replace(new) {
            self.out.push((tid, before, Some(new)));
        }
    }

    fn switch(&mut self, columns: &Columns, row: usize) {
        let (next, before) = (at64(&columns.tid, row), at64(&columns.other, row));
        let cpu = at64(&columns.cpu, row);
        let mut state = State {
            ts: self.input.time(),
            line: at64(&columns.line, row),
            cpu,
            row: self.input.chunk.base + row as u64,
            state: at8(&columns.code, row).unwrap_or(UNKNOWN),
            side: 1,
            ..State::default()
        };
        if let Some(lost) = thread(self.running.get(&cpu).copied().flatten())
            && Some(lost) != before
            && Some(lost) != next
        {
            self.lose(lost, &state);
        }
        if let Some(tid) = thread(before) {
            self.change(tid, state);
            self.threads.entry(tid).or_default().on = None;
        }
        if let Some(tid) = thread(next) {
            state.state = RUNNING;
            state.side = 0;
            self.change(tid, state);
            self.threads.entry(tid).or_default().on = Some(cpu);
        }
        self.running.insert(cpu, next);
    }

    /// End the state of the thread assumed to run on a CPU that is switched from another thread.
    fn lose(&mut self, tid: i64, at: &State) {
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        if thread.on != Some(at.cpu) {
            return;
        }
        thread.on = None;
        let shown = thread.open.map_or((at.row, at.side), |open| (open.row, open.side));
        let new = State { state: UNKNOWN, row: shown.0, side: shown.1, ..*at };
        self.change(tid, new);
    }

    fn wakeup(&mut self, columns: &Columns, row: usize) {
        let Some(tid) = thread(at64(&columns.tid, row)) else {
            return;
        };
        let open = self.threads.get(&tid).and_then(|thread| thread.open);
        if open.is_some_and(|open| open.state == RUNNING || open.state == RUNNABLE) {
            return;
        }
        let cpu = at64(&columns.cpu, row);
        let there = || self.running.get(&cpu).copied().flatten();
        let new = State {
            ts: self.input.time(),
            line: at64(&columns.line, row),
            cpu: at64(&columns.target, row),
            waker: at64(&columns.other, row).or_else(there),
            row: self.input.chunk.base + row as u64,
            context: at8(&columns.code, row),
            state: RUNNABLE,
            side: 0,
            woken: true,
        };
        self.change(tid, new);
    }

    /// Emit the states without a later change, in order.
    fn finish(&mut self) {
        self.ended = true;
        let mut rest: Vec<(i64, State)> =
            self.threads.drain().filter_map(|(tid, thread)| thread.open.map(|open| (tid, open))).collect();
        rest.sort_unstable_by_key(|(tid, open)| (open.ts, open.line, *tid));
        self.out.extend(rest.into_iter().map(|(tid, open)| (tid, open, None)));
    }

    fn release(&mut self) {
        if self.input.held.is_full() {
            let open = self.threads.values().filter_map(|thread| thread.open);
            let waiting = self.out.iter().map(|(_, state, _)| state.row);
            self.input.held.retain(open.map(|open| open.row).chain(waiting));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let mut columns = vec![int64(out.iter().map(|(_, state, _)| state.ts).collect())];
        columns.push(many64(&out, |_, next| next.map(|next| next.ts)));
        columns.push(int64(out.iter().map(|(tid, ..)| *tid).collect()));
        columns.push(many8(&out, |state, _| Some(state.state)));
        columns.push(many64(&out, |state, _| state.cpu));
        columns.push(many64(&out, |state, _| state.line));
        let mut woken = BooleanBuilder::with_capacity(out.len());
        out.iter().for_each(|(_, state, _)| woken.append_value(state.woken));
        columns.push(Arc::new(woken.finish()));
        columns.push(many64(&out, |state, _| state.waker));
        columns.push(many8(&out, |state, _| state.context));
        columns.push(many8(&out, |state, _| Some(state.side)));
        columns.push(many8(&out, |_, next| next.map(|next| next.state)));
        columns.push(many64(&out, |_, next| next.and_then(|next| next.cpu)));
        columns.push(many64(&out, |_, next| next.and_then(|next| next.line)));
        columns.push(many64(&out, |_, next| next.and_then(|next| next.waker)));
        columns.push(many8(&out, |_, next| next.and_then(|next| next.context)));
        let rows: Vec<u64> = out.iter().map(|(_, state, _)| state.row).collect();
        let payload = self.fields.iter().enumerate().skip(OWN.len());
        let wanted: Vec<_> = payload.map(|(column, field)| (column, field.data_type())).collect();
        columns.extend(gather_some(&self.input.held, &wanted, &rows)?);
        Ok(columns)
    }
}

type Let = (i64, State, Option<State>);

fn many64(out: &[Let], value: impl Fn(&State, Option<&State>) -> Option<i64>) -> ArrayRef {
    let mut column = Int64Builder::with_capacity(out.len());
    out.iter().for_each(|(_, state, next)| column.append_option(value(state, next.as_ref())));
    Arc::new(column.finish())
}

fn many8(out: &[Let], value: impl Fn(&State, Option<&State>) -> Option<i8>) -> ArrayRef {
    let mut column = Int8Builder::with_capacity(out.len());
    out.iter().for_each(|(_, state, next)| column.append_option(value(state, next.as_ref())));
    Arc::new(column.finish())
}

impl Sweep for States {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while self.out.len() < ROWS && !self.ended {
            self.input.fill(&mut self.partitions)?;
            if self.input.done {
                self.finish();
                break;
            }
            self.release();
            self.run()?;
        }
        if self.out.is_empty() { Ok(None) } else { self.flush().map(Some) }
    }
}

#[pyfunction]
#[pyo3(signature = (events, *, names, cancel=None))]
pub fn thread_states(
    events: InputStream,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let input = ChunkedInput::new(events.into_reader(), Kind::Events, 0, "event", token.clone());
    build(input.map_err(to_python)?, &names, token).map_err(to_python)
}

fn build(input: ChunkedInput, names: &[String], token: Token) -> Result<OutputStream, ArrowError> {
    let fields = input.payload_fields();
    let types: Vec<&DataType> = fields.iter().map(|field| field.data_type()).collect();
    if types.len() < OWN.len() || OWN.iter().zip(&types).any(|(own, found)| own != *found) {
        return Err(fail(format!("columns of the event input are {types:?}, expected {OWN:?}")));
    }
    let (i8, i64) = (DataType::Int8, DataType::Int64);
    let own = [
        (&i64, false),
        (&i64, true),
        (&i64, false),
        (&i8, false),
        (&i64, true),
        (&i64, true),
        (&DataType::Boolean, false),
        (&i64, true),
        (&i8, true),
        (&i8, false),
        (&i8, true),
        (&i64, true),
        (&i64, true),
        (&i64, true),
        (&i8, true),
    ];
    let mut all: Vec<FieldRef> = own.iter().map(|(kind, nulls)| made((*kind).clone(), *nulls)).collect();
    all.extend(nullable(fields[OWN.len()..].to_vec()));
    let schema = schema(all, names)?;
    let partitions = Partitions::new(&[], Vec::new())?;
    let sweep = States {
        input,
        fields,
        partitions,
        threads: FxHashMap::default(),
        running: FxHashMap::default(),
        out: Vec::new(),
        ended: false,
    };
    Ok(stream(schema, sweep, token))
}
