//! Return one row per piece of a group, and one that is not present for a group without pieces.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef};

use super::gather::gather;
use super::groups::{GroupedRows, Members};
use super::held::{Held, NULL_ROW};
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{made, nullable};

/// The rows that wait for their batch.
pub struct Pieces {
    kind: Kind,
    payload: Vec<FieldRef>,
    out: Out,
}

#[derive(Default)]
struct Out {
    group: Vec<usize>,
    code: Vec<u32>,
    ts: Vec<i64>,
    duration: Vec<i64>,
    row: Vec<u64>,
}

impl Pieces {
    pub fn new(input: &ChunkedInput, kind: Kind) -> Self {
        Self { kind, payload: input.payload_fields(), out: Out::default() }
    }
}

impl Members for Pieces {
    const NUMBERED: bool = true;

    fn fields(&self) -> Vec<FieldRef> {
        let mut all = vec![made(DataType::Boolean, false), made(DataType::Int64, true)];
        if self.kind == Kind::Spans {
            all.push(made(DataType::Int64, true));
        }
        all.extend(nullable(self.payload.clone()));
        all
    }

    #[inline]
    fn piece(&mut self, group: usize, code: u32, (ts, duration): (i64, i64), row: u64) {
        let out = &mut self.out;
        out.group.push(group);
        out.code.push(code);
        out.ts.push(ts);
        out.duration.push(duration);
        out.row.push(row);
    }

    fn absent(&mut self, group: usize, code: u32) {
        self.piece(group, code, (0, 0), NULL_ROW);
    }

    fn is_full(&self) -> bool {
        self.out.code.len() >= ROWS
    }

    fn is_empty(&self) -> bool {
        self.out.code.is_empty()
    }

    fn rows(&self) -> impl Iterator<Item = u64> {
        self.out.row.iter().copied()
    }

    fn flush(&mut self, held: &Held, _open: Option<usize>) -> Result<GroupedRows, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let present = BooleanBuffer::collect_bool(out.row.len(), |row| out.row[row] != NULL_ROW);
        let nulls = Some(NullBuffer::new(present.clone())).filter(|nulls| nulls.null_count() > 0);
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(BooleanArray::new(present, None)), Arc::new(Int64Array::new(out.ts.into(), nulls.clone()))];
        if self.kind == Kind::Spans {
            columns.push(Arc::new(Int64Array::new(out.duration.into(), nulls)));
        }
        columns.extend(gather(held, &self.payload, &out.row)?);
        Ok(GroupedRows { group: out.group, code: out.code, columns })
    }
}
