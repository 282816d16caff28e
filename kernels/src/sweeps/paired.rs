//! `nest_pairs`: match begins and ends into nested calls with their parents, depths and self time.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::counter::{Counter, Tally};
use super::failure::{fail, to_python};
use super::gather::gather_some;
use super::held::NULL_ROW;
use super::moves::{Move, Moves};
use super::partition::Partitions;
use super::slots::{Length, Slots};
use super::source::{ROWS, STEP};
use super::stream::{Sweep, int64, made, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream};

struct Paired {
    moves: Moves,
    fields: Vec<FieldRef>,
    /// Payload of ends, which follows that of begins.
    end_fields: Vec<FieldRef>,
    partitions: Partitions,
    /// The open calls of each partition, by slot.
    stacks: Vec<Vec<u64>>,
    slots: Slots<Slot>,
    out: Vec<(u64, Slot)>,
    released: u64,
    unmatched: Tally,
}

struct Slot {
    ts: i64,
    code: u32,
    depth: i32,
    length: Length,
    /// Time of the calls within it: they never overlap, since calls end innermost first.
    inside: i64,
    parent: Option<u64>,
    row: u64,
    end_row: u64,
}

impl Paired {
    fn run(&mut self) -> Result<(), ArrowError> {
        for _ in 0..STEP {
            match self.moves.next() {
                Some(Move::Push { t, code, row, .. }) => self.begin(t, code, row),
                Some(Move::Pop { t, code, row }) => self.end(t, code, row)?,
                None => break,
            }
        }
        Ok(())
    }

    #[inline]
    fn begin(&mut self, ts: i64, code: u32, row: u64) {
        let stack = &mut self.stacks[code as usize];
        let slot = self.slots.begin(Slot {
            ts,
            code,
            depth: i32::try_from(stack.len()).unwrap_or(i32::MAX),
            length: Length::Open,
            inside: 0,
            parent: stack.last().copied(),
            row,
            end_row: NULL_ROW,
        });
        stack.push(slot);
    }

    #[inline]
    fn end(&mut self, t: i64, code: u32, row: u64) -> Result<(), ArrowError> {
        let Some(number) = self.stacks[code as usize].pop() else {
            self.unmatched.add();
            return Ok(());
        };
        let Some(slot) = self.slots.get(number) else {
            return Ok(());
        };
        let Some(length) = t.checked_sub(slot.ts) else {
            return Err(fail(format!("call from {} to {t} is longer than a duration can say", slot.ts)));
        };
        slot.length = Length::Known(length);
        slot.end_row = row;
        if let Some(parent) = slot.parent.and_then(|parent| self.slots.get(parent)) {
            parent.inside += length;
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
        if self.moves.pushes.held.is_full() {
            let waiting = self.out.iter().map(|(_, slot)| slot.row);
            self.moves.pushes.held.retain(self.slots.iter().map(|slot| slot.row).chain(waiting));
        }
        if self.moves.pops.held.is_full() {
            let waiting = self.out.iter().map(|(_, slot)| slot.end_row);
            self.moves.pops.held.retain(self.slots.iter().map(|slot| slot.end_row).chain(waiting));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let slots = || out.iter().map(|(_, slot)| slot);
        let numbers =
            |value: fn(&Slot) -> Option<i64>| -> ArrayRef { Arc::new(slots().map(value).collect::<Int64Array>()) };
        let mut columns = vec![int64(slots().map(|slot| slot.ts).collect())];
        columns.push(numbers(|slot| slot.length.known()));
        columns.extend(self.partitions.columns(slots().map(|slot| slot.code).collect())?);
        columns.push(int64(out.iter().map(|(id, _)| *id as i64).collect()));
        columns.push(numbers(|slot| slot.parent.map(|parent| parent as i64 + 1)));
        columns.push(Arc::new(slots().map(|slot| Some(slot.depth)).collect::<Int32Array>()));
        columns.push(numbers(|slot| slot.length.known().map(|length| length - slot.inside)));
        let rows: Vec<u64> = slots().map(|slot| slot.row).collect();
        let payload = self.fields.iter().enumerate().skip(self.moves.own());
        let wanted: Vec<_> = payload.map(|(column, field)| (column, field.data_type())).collect();
        columns.extend(gather_some(&self.moves.pushes.held, &wanted, &rows)?);
        let rows: Vec<u64> = slots().map(|slot| slot.end_row).collect();
        let payload = self.end_fields.iter().enumerate().skip(self.moves.own());
        let wanted: Vec<_> = payload.map(|(column, field)| (column, field.data_type())).collect();
        columns.extend(gather_some(&self.moves.pops.held, &wanted, &rows)?);
        Ok(columns)
    }
}

impl Sweep for Paired {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        loop {
            self.moves.fill(&mut self.partitions)?;
            self.stacks.resize(self.partitions.len(), Vec::new());
            let done = self.moves.done();
            if done {
                self.unmatched.show();
                let open = self.slots.iter_mut().filter(|slot| slot.length == Length::Open);
                open.for_each(|slot| slot.length = Length::Never);
            }
            self.settle();
            if self.out.len() >= ROWS || done {
                break;
            }
            self.release();
            self.run()?;
        }
        if self.out.is_empty() { Ok(None) } else { self.flush().map(Some) }
    }
}

#[pyfunction]
#[pyo3(signature = (starts, stops, *, partitions, ranked, names, cancel=None))]
pub fn nest_pairs(
    starts: InputStream,
    stops: InputStream,
    partitions: usize,
    ranked: bool,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<(OutputStream, Counter)> {
    let token = Token::new(cancel);
    let (starts, stops) = (starts.into_reader(), stops.into_reader());
    let moves = Moves::new(starts, stops, partitions, ranked, &token).map_err(to_python)?;
    build(moves, &names, token).map_err(to_python)
}

fn build(moves: Moves, names: &[String], token: Token) -> Result<(OutputStream, Counter), ArrowError> {
    let partitions = partitions(names, 2, moves.pushes.partition_types())?;
    moves.check(&partitions)?;
    let fields = moves.pushes.payload_fields();
    let mut all = vec![made(DataType::Int64, false), made(DataType::Int64, true)];
    all.extend(nullable(moves.pushes.partition_fields()));
    all.extend([
        made(DataType::Int64, false),
        made(DataType::Int64, true),
        made(DataType::Int32, false),
        made(DataType::Int64, true),
    ]);
    let end_fields = moves.pops.payload_fields();
    for payload in [&fields, &end_fields] {
        all.extend(nullable(payload.iter().skip(moves.own()).cloned().collect()));
    }
    let schema = schema(all, names)?;
    let sweep = Paired {
        moves,
        fields,
        end_fields,
        partitions,
        stacks: Vec::new(),
        slots: Slots::default(),
        out: Vec::new(),
        released: 0,
        unmatched: Tally::default(),
    };
    let counter = sweep.unmatched.counter();
    Ok((stream(schema, sweep, token), counter))
}
