//! `nest`: match begins, ends and complete calls of threads into calls with their parents and depths.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::counter::{Counter, Tally};
use super::failure::{fail, to_python};
use super::gather::gather_some;
use super::partition::Partitions;
use super::slots::{Length, Slots};
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{Sweep, int64, made, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream};

struct Nest {
    input: ChunkedInput,
    fields: Vec<FieldRef>,
    partitions: Partitions,
    stacks: Vec<Vec<Frame>>,
    slots: Slots<Slot>,
    out: Vec<(u64, Slot)>,
    released: u64,
    unmatched: Tally,
}

/// A call that is open: its end is known if it was complete.
#[derive(Clone, Copy)]
struct Frame {
    slot: u64,
    end: Option<i64>,
    depth: i32,
}

struct Slot {
    ts: i64,
    code: u32,
    length: Length,
    parent: Option<u64>,
    depth: i32,
    row: u64,
}

/// Kind and duration precede the payload.
const OWN: usize = 2;

impl Nest {
    fn run(&mut self) -> Result<(), ArrowError> {
        let number = (self.input.chunk.base >> 32) as u32;
        let find = |column| self.input.held.column(number, column).cloned().ok_or_else(|| fail("chunk was dropped"));
        let (kinds, durations) = (find(0)?, find(1)?);
        let (kinds, durations) = (kinds.as_primitive::<Int8Type>(), durations.as_primitive::<Int64Type>());
        while !self.input.empty() {
            let (row, t) = (self.input.pos, self.input.time());
            let kind = if kinds.is_null(row) { None } else { Some(kinds.value(row)) };
            match kind {
                Some(1) => self.begin(t, None)?,
                Some(-1) => self.end(t)?,
                Some(0) => {
                    let duration =
                        (!durations.is_null(row)).then(|| durations.value(row)).filter(|&length| length >= 0);
                    let end = duration.and_then(|length| t.checked_add(length));
                    let end = end.ok_or_else(|| self.bad(t, "complete call without a possible duration"))?;
                    self.begin(t, Some(end))?;
                }
                _ => return Err(self.bad(t, "kind is not -1, 0 or 1")),
            }
            self.input.pos += 1;
        }
        Ok(())
    }

    #[cold]
    fn bad(&mut self, t: i64, what: &str) -> ArrowError {
        match self.input.place(self.input.chunk.code[self.input.pos], &mut self.partitions) {
            Ok(place) => fail(format!("{what} at {t}{place}")),
            Err(error) => error,
        }
    }

    fn begin(&mut self, t: i64, end: Option<i64>) -> Result<(), ArrowError> {
        let code = self.input.chunk.code[self.input.pos];
        let row = self.input.chunk.base + self.input.pos as u64;
        let stack = &mut self.stacks[code as usize];
        let over = |frame: &Frame| frame.end.is_some_and(|end| end <= t);
        while stack.last().is_some_and(over) {
            stack.pop();
        }
        let depth = stack.last().map_or(0, |frame| frame.depth.saturating_add(1));
        let holds = |frame: &&Frame| frame.end.is_none_or(|other| other > t && end.is_none_or(|end| other >= end));
        let parent = stack.iter().rev().find(holds).map(|frame| frame.slot);
        let length = end.map_or(Length::Open, |end| Length::Known(end.saturating_sub(t)));
        let slot = self.slots.begin(Slot { ts: t, code, length, parent, depth, row });
        stack.push(Frame { slot, end, depth });
        Ok(())
    }

    /// End the innermost call that was begun and not ended.
    fn end(&mut self, t: i64) -> Result<(), ArrowError> {
        let stack = &mut self.stacks[self.input.chunk.code[self.input.pos] as usize];
        let Some(place) = stack.iter().rposition(|frame| frame.end.is_none()) else {
            self.unmatched.add();
            return Ok(());
        };
        let frame = stack.remove(place);
        let Some(slot) = self.slots.get(frame.slot) else {
            return Ok(());
        };
        match t.checked_sub(slot.ts) {
            Some(length) => slot.length = Length::Known(length),
            None => return Err(self.bad(t, "call is longer than a duration can say")),
        }
        Ok(())
    }

    fn settle(&mut self) {
        while self.out.len() < ROWS
            && let Some(slot) = self.slots.pop_if(|slot| slot.length != Length::Open)
        {
            self.released += 1;
            self.out.push((self.released, slot));
        }
    }

    fn release(&mut self) {
        if self.input.held.is_full() {
            let waiting = self.out.iter().map(|(_, slot)| slot.row);
            self.input.held.retain(self.slots.iter().map(|slot| slot.row).chain(waiting));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let mut columns = vec![int64(out.iter().map(|(_, slot)| slot.ts).collect())];
        columns.push(Arc::new(out.iter().map(|(_, slot)| slot.length.known()).collect::<Int64Array>()));
        columns.extend(self.partitions.columns(out.iter().map(|(_, slot)| slot.code).collect())?);
        columns.push(int64(out.iter().map(|(id, _)| *id as i64).collect()));
        let parents = out.iter().map(|(_, slot)| slot.parent.map(|parent| parent as i64 + 1));
        columns.push(Arc::new(parents.collect::<Int64Array>()));
        columns.push(Arc::new(out.iter().map(|(_, slot)| Some(slot.depth)).collect::<Int32Array>()));
        let rows: Vec<u64> = out.iter().map(|(_, slot)| slot.row).collect();
        let payload = self.fields.iter().enumerate().skip(OWN);
        let wanted: Vec<_> = payload.map(|(column, field)| (column, field.data_type())).collect();
        columns.extend(gather_some(&self.input.held, &wanted, &rows)?);
        Ok(columns)
    }
}

impl Sweep for Nest {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        loop {
            self.input.fill(&mut self.partitions)?;
            self.stacks.resize(self.partitions.len(), Vec::new());
            if self.input.done {
                self.unmatched.show();
                let open = self.slots.iter_mut().filter(|slot| slot.length == Length::Open);
                open.for_each(|slot| slot.length = Length::Never);
            }
            self.settle();
            if self.out.len() >= ROWS || self.input.done {
                break;
            }
            self.release();
            self.run()?;
        }
        if self.out.is_empty() { Ok(None) } else { self.flush().map(Some) }
    }
}

#[pyfunction]
#[pyo3(signature = (calls, *, partitions, names, cancel=None))]
pub fn nest(
    calls: InputStream,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<(OutputStream, Counter)> {
    let token = Token::new(cancel);
    let input = ChunkedInput::new(calls.into_reader(), Kind::Events, partitions, "call", token.clone());
    let tally = Tally::default();
    let counter = tally.counter();
    let reader = build(input.map_err(to_python)?, &names, tally, token).map_err(to_python)?;
    Ok((reader, counter))
}

fn build(input: ChunkedInput, names: &[String], unmatched: Tally, token: Token) -> Result<OutputStream, ArrowError> {
    let fields = input.payload_fields();
    let types: Vec<&DataType> = fields.iter().map(|field| field.data_type()).take(OWN).collect();
    if types != [&DataType::Int8, &DataType::Int64] {
        return Err(fail(format!("kind and duration of the call input are {types:?}, expected [Int8, Int64]")));
    }
    let partitions = partitions(names, 2, input.partition_types())?;
    let mut all = vec![made(DataType::Int64, false), made(DataType::Int64, true)];
    all.extend(nullable(input.partition_fields()));
    all.extend([made(DataType::Int64, false), made(DataType::Int64, true), made(DataType::Int32, false)]);
    all.extend(nullable(fields[OWN..].to_vec()));
    let schema = schema(all, names)?;
    let (stacks, slots, out) = (Vec::new(), Slots::default(), Vec::new());
    Ok(stream(schema, Nest { input, fields, partitions, stacks, slots, out, released: 0, unmatched }, token))
}
