//! The common part of sweeps over one input: rows go to a step in order of time, and its spans become batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::checks::lasting;
use super::failure::to_python;
use super::gather::{gather, gather_some};
use super::partition::Partitions;
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{Sweep, int64, made, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream};

/// A row of the input; for an event, `end` is `ts`.
#[derive(Clone, Copy)]
pub struct Row {
    pub ts: i64,
    pub end: i64,
    pub code: usize,
    pub row: u64,
}

/// Why a step stops.
pub enum Stop {
    /// The row begins while another span of its partition, from `.0` to `.1`, is open.
    Overlap(i64, i64),
    Error(ArrowError),
}

impl From<ArrowError> for Stop {
    fn from(error: ArrowError) -> Self {
        Self::Error(error)
    }
}

/// The action of a sweep for each row; its state is one entry per partition.
pub trait Step: Send {
    /// Called for every chunk before its rows; `partitions` is the current number of partitions.
    fn load(&mut self, input: &ChunkedInput, partitions: usize) -> Result<(), ArrowError>;
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop>;
    /// Emit what no row from `ts` on can change, so that silent partitions hold nothing back.
    fn settle(&mut self, _ts: i64, _out: &mut Spans) -> Result<(), ArrowError> {
        Ok(())
    }
    /// Called once, after the last row.
    fn finish(&mut self, _out: &mut Spans) -> Result<(), ArrowError> {
        Ok(())
    }
    /// The rows with payload that may still be needed.
    fn needed(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(std::iter::empty())
    }
}

/// Spans, or events, that wait for their batch.
#[derive(Default)]
pub struct Spans {
    ts: Vec<i64>,
    duration: Vec<i64>,
    code: Vec<u32>,
    row: Vec<u64>,
    extra: Vec<i64>,
    picked: Vec<u64>,
    real: Vec<Option<f64>>,
}

impl Spans {
    /// Add a span that is not empty.
    #[inline]
    pub fn push(&mut self, ts: i64, end: i64, code: usize, row: u64) -> Result<(), ArrowError> {
        self.duration.push(lasting(ts, end)?);
        self.event(ts, code, row);
        Ok(())
    }

    #[inline]
    pub fn event(&mut self, ts: i64, code: usize, row: u64) {
        self.ts.push(ts);
        self.code.push(code as u32);
        self.row.push(row);
    }

    /// Give the latest entry its next number, for a column between keys and payload.
    #[inline]
    pub fn number(&mut self, number: i64) {
        self.extra.push(number);
    }

    /// Give the latest entry the first payload column of its next row.
    #[inline]
    pub fn pick(&mut self, row: u64) {
        self.picked.push(row);
    }

    /// Give the latest entry its next floating-point number.
    #[inline]
    pub fn real(&mut self, number: Option<f64>) {
        self.real.push(number);
    }

    /// The rows with payload for the output.
    fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.row.iter().chain(&self.picked).copied()
    }

    fn flush(
        self,
        partitions: &mut Partitions,
        input: &ChunkedInput,
        shape: &Shape,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut columns = vec![int64(self.ts)];
        if shape.spans {
            columns.push(int64(self.duration));
        }
        columns.extend(partitions.columns(self.code)?);
        let StepColumns { numbers, picked, reals } = shape.made;
        for place in 0..numbers {
            columns.push(int64(each(&self.extra, place, numbers).collect()));
        }
        for place in 0..picked {
            let rows: Vec<u64> = each(&self.picked, place, picked).collect();
            let wanted: Vec<_> = shape.first.iter().map(|kind| (0, kind)).collect();
            columns.extend(gather_some(&input.held, &wanted, &rows)?);
        }
        for place in 0..reals {
            let real = each(&self.real, place, reals);
            columns.push(Arc::new(real.collect::<Float64Array>()));
        }
        columns.extend(gather(&input.held, &shape.fields, &self.row)?);
        Ok(columns)
    }
}

/// Every `of`-th value, from one on.
fn each<T: Copy>(values: &[T], place: usize, of: usize) -> impl Iterator<Item = T> + '_ {
    values.iter().skip(place).step_by(of).copied()
}

/// The number of columns made by a step, before the payload, by sort.
#[derive(Clone, Copy, Default)]
pub struct StepColumns {
    /// Of int64.
    pub numbers: usize,
    /// Values of the first payload column, of rows that the step picks.
    pub picked: usize,
    /// Of float64, or NULL.
    pub reals: usize,
}

impl StepColumns {
    pub fn numbers(numbers: usize) -> Self {
        Self { numbers, ..Self::default() }
    }
}

/// The columns of the output, besides keys.
struct Shape {
    spans: bool,
    made: StepColumns,
    /// The type of the first payload column.
    first: Option<DataType>,
    /// The payload fields in the output: the first of the input's.
    fields: Vec<FieldRef>,
}

struct Single<S> {
    input: ChunkedInput,
    partitions: Partitions,
    shape: Shape,
    step: S,
    /// Rows since the latest settling; counted here since batches may be cut anywhere.
    met: usize,
    out: Spans,
}

impl<S: Step> Single<S> {
    fn run(&mut self) -> Result<(), ArrowError> {
        if self.input.pos == 0 {
            self.step.load(&self.input, self.partitions.len())?;
        }
        while !self.input.empty() && self.out.ts.len() < ROWS {
            let (pos, chunk) = (self.input.pos, &self.input.chunk);
            let ts = chunk.ts[pos];
            let row = Row {
                ts,
                end: chunk.end.get(pos).copied().unwrap_or(ts),
                code: chunk.code[pos] as usize,
                row: chunk.base + pos as u64,
            };
            if self.met == ROWS {
                self.step.settle(ts, &mut self.out)?;
                self.met = 0;
            }
            match self.step.row(row, &mut self.out) {
                Ok(()) => {
                    self.input.pos += 1;
                    self.met += 1;
                }
                Err(Stop::Overlap(start, stop)) => {
                    return Err(self.input.overlaps((start, stop), pos, &mut self.partitions));
                }
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<S: Step> Sweep for Single<S> {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        let ended = self.input.done;
        while self.out.ts.len() < ROWS && !self.input.done {
            if self.input.held.is_full() {
                let out = self.out.rows();
                self.input.held.retain(self.step.needed().chain(out));
            }
            self.input.fill(&mut self.partitions)?;
            self.run()?;
        }
        if self.input.done && !ended {
            // An input without rows has had no chunk, but may have a partition.
            self.step.load(&self.input, self.partitions.len())?;
            self.step.finish(&mut self.out)?;
        }
        if self.out.ts.is_empty() {
            return Ok(None);
        }
        let out = std::mem::take(&mut self.out);
        out.flush(&mut self.partitions, &self.input, &self.shape).map(Some)
    }
}

/// Open a table of spans for a step.
pub fn over_spans<S: Step + 'static>(
    spans: InputStream,
    partitions: usize,
    made: StepColumns,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
    step: impl FnOnce(&ChunkedInput) -> Result<S, ArrowError>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let reader = spans.into_reader();
    let build = || {
        let input = ChunkedInput::new(reader, Kind::Spans, partitions, "span", token.clone())?;
        let step = step(&input)?;
        sweep(input, step, (true, made), &names, token)
    };
    build().map_err(to_python)
}

/// Make the stream of a step; the output has as many payload columns of the input as `names` has names for.
pub fn sweep(
    input: ChunkedInput,
    step: impl Step + 'static,
    (spans, given): (bool, StepColumns),
    names: &[String],
    token: Token,
) -> Result<OutputStream, ArrowError> {
    let times = 1 + usize::from(spans);
    let partitions = partitions(names, times, input.partition_types())?;
    let mut all = vec![made(DataType::Int64, false); times];
    all.extend(nullable(input.partition_fields()));
    let payload = input.payload_fields();
    let first = payload.first().map(|field| field.data_type().clone());
    all.extend(vec![made(DataType::Int64, false); given.numbers]);
    let picked = payload.first().into_iter().cycle().take(given.picked);
    all.extend(nullable(picked.cloned().collect()));
    all.extend(vec![made(DataType::Float64, true); given.reals]);
    let room = names.len().saturating_sub(all.len());
    let fields: Vec<FieldRef> = payload.into_iter().take(room).collect();
    all.extend(nullable(fields.clone()));
    let schema = schema(all, names)?;
    let shape = Shape { spans, made: given, first, fields };
    let single = Single { input, partitions, shape, step, met: 0, out: Spans::default() };
    Ok(stream(schema, single, token))
}
