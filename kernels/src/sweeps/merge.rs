//! `merge_adjacent`: merge touching spans of equal payload.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType};
use arrow_row::{OwnedRow, RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use std::sync::Arc;

use super::cancel::Cancel;
use super::failure::fail;
use super::held::NULL_ROW;
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

struct Merge {
    width: usize,
    converter: RowConverter,
    /// The payload of the current chunk in a form that can be compared, and the number of the chunk.
    rows: Option<Rows>,
    chunk: u64,
    runs: Vec<Run>,
    /// Partitions whose run begins in the current chunk.
    fresh: Vec<usize>,
}

/// Spans merged so far.
#[derive(Clone)]
struct Run {
    ts: i64,
    end: i64,
    /// The start of the latest of them.
    latest: i64,
    row: u64,
    /// The payload, where it is not in the current chunk.
    payload: Option<OwnedRow>,
}

const NO_RUN: Run = Run { ts: i64::MIN, end: i64::MIN, latest: i64::MIN, row: NULL_ROW, payload: None };

impl Merge {
    fn new(fields: &[FieldRef]) -> Result<Self, ArrowError> {
        let kinds = fields.iter().map(|field| field.data_type().clone());
        Ok(Self {
            width: fields.len(),
            converter: RowConverter::new(kinds.map(SortField::new).collect())?,
            rows: None,
            chunk: 0,
            runs: Vec::new(),
            fresh: Vec::new(),
        })
    }

    #[inline]
    fn equal(&self, run: &Run, row: u64) -> bool {
        let Some(rows) = &self.rows else { return true };
        let own = rows.row(row as u32 as usize);
        match &run.payload {
            Some(payload) => payload.row() == own,
            None => rows.row(run.row as u32 as usize) == own,
        }
    }
}

/// Make equal floats equal bit by bit: zeros of either sign, and all NaNs.
fn plain(column: &ArrayRef) -> ArrayRef {
    fn of<T: ArrowPrimitiveType>(column: &ArrayRef, each: impl Fn(T::Native) -> T::Native) -> ArrayRef {
        Arc::new(column.as_primitive::<T>().unary::<_, T>(each))
    }
    match column.data_type() {
        DataType::Float64 => of::<Float64Type>(column, |x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        DataType::Float32 => of::<Float32Type>(column, |x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        _ => column.clone(),
    }
}

impl Step for Merge {
    fn load(&mut self, input: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.runs.resize(partitions, NO_RUN);
        if let Some(rows) = &self.rows {
            for code in self.fresh.drain(..) {
                let run = &mut self.runs[code];
                if run.payload.is_none() && run.row >> 32 == self.chunk {
                    run.payload = Some(rows.row(run.row as u32 as usize).owned());
                }
            }
        }
        self.fresh.clear();
        self.chunk = input.chunk.base >> 32;
        let number = self.chunk as u32;
        if self.width == 0 || input.chunk.ts.is_empty() {
            self.rows = None;
            return Ok(());
        }
        let columns = (0..self.width).map(|column| input.held.column(number, column).map(plain));
        let columns = columns.collect::<Option<Vec<_>>>();
        let columns = columns.ok_or_else(|| fail("a row was dropped while in use"))?;
        self.rows = Some(self.converter.convert_columns(&columns)?);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let run = &self.runs[row.code];
        if run.end > row.ts {
            return Err(Stop::Overlap(run.latest, run.end));
        }
        if run.row != NULL_ROW && run.end == row.ts && self.equal(run, row.row) {
            let run = &mut self.runs[row.code];
            (run.latest, run.end) = (row.ts, row.end);
            return Ok(());
        }
        if run.row != NULL_ROW {
            out.push(run.ts, run.end, row.code, run.row)?;
        }
        if run.row == NULL_ROW || run.payload.is_some() {
            self.fresh.push(row.code);
        }
        self.runs[row.code] = Run { ts: row.ts, end: row.end, latest: row.ts, row: row.row, payload: None };
        Ok(())
    }

    fn settle(&mut self, ts: i64, out: &mut Spans) -> Result<(), ArrowError> {
        for (code, run) in self.runs.iter_mut().enumerate() {
            if run.row != NULL_ROW && run.end < ts {
                out.push(run.ts, run.end, code, run.row)?;
                *run = NO_RUN;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        let mut runs = self.runs.iter().enumerate().filter(|(_, run)| run.row != NULL_ROW);
        runs.try_for_each(|(code, run)| out.push(run.ts, run.end, code, run.row))
    }

    fn needed(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.runs.iter().map(|run| run.row))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, cancel=None))]
pub fn merge_adjacent(
    spans: InputStream,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    over_spans(spans, partitions, StepColumns::default(), names, cancel, |input| Merge::new(&input.payload_fields()))
}
