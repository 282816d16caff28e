//! `zoom_counter`: aggregate the value of spans in each step where it changes.

use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cancel::Cancel;
use super::failure::fail;
use super::held::NULL_ROW;
use super::numbers::{Number, Numbers, is_narrow, scale};
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

/// The covered part of a step in one partition so far, or a run of steps within one span.
#[derive(Clone, Copy)]
struct Cell {
    /// The number of the step.
    step: i64,
    ts: i64,
    end: i64,
    known: Option<NonNullValues>,
}

/// The values that are not NULL, each with its row.
#[derive(Clone, Copy)]
struct NonNullValues {
    least: (Number, u64),
    most: (Number, u64),
    last: u64,
    /// Their covered time.
    length: i64,
    total: Number,
}

impl NonNullValues {
    fn rows(self) -> [u64; 3] {
        [self.least.1, self.most.1, self.last]
    }
}

#[derive(Default)]
struct ZoomCounter {
    from: i64,
    to: i64,
    step: i64,
    /// Digits after the decimal point.
    scale: i8,
    /// Whether sums of value times duration are exact.
    exact: bool,
    numbers: Option<Numbers>,
    /// Start and end of each partition's latest span.
    latest: Vec<(i64, i64)>,
    open: Vec<Option<Cell>>,
}

impl ZoomCounter {
    /// The aggregate of a value over some time.
    fn known(&self, value: Number, length: i64, row: u64) -> NonNullValues {
        let total = match value {
            Number::Whole(value) if self.exact => Number::Whole(value * i128::from(length)),
            other => Number::Real(other.real(self.scale) * length as f64),
        };
        NonNullValues { least: (value, row), most: (value, row), last: row, length, total }
    }

    /// Add a part of a span that lies within one step.
    fn add(&mut self, part: Cell, code: usize, out: &mut Spans) -> Result<(), ArrowError> {
        match &mut self.open[code] {
            Some(cell) if cell.step == part.step => {
                cell.end = part.end;
                cell.known = match (cell.known, part.known) {
                    (Some(before), Some(after)) => Some(joined(before, after)),
                    (before, after) => before.or(after),
                };
                Ok(())
            }
            _ => {
                self.close(code, out)?;
                self.open[code] = Some(part);
                Ok(())
            }
        }
    }

    fn close(&mut self, code: usize, out: &mut Spans) -> Result<(), ArrowError> {
        match self.open[code].take() {
            Some(cell) => self.put(cell, code, out),
            None => Ok(()),
        }
    }

    fn put(&self, cell: Cell, code: usize, out: &mut Spans) -> Result<(), ArrowError> {
        out.push(cell.ts, cell.end, code, NULL_ROW)?;
        let rows = cell.known.map_or([NULL_ROW; 3], NonNullValues::rows);
        rows.into_iter().for_each(|row| out.pick(row));
        out.real(cell.known.map(|known| self.mean(known)));
        Ok(())
    }

    fn mean(&self, known: NonNullValues) -> f64 {
        let (least, most) = (known.least.0, known.most.0);
        // A constant value is its own mean, which a product and a quotient of floats may miss.
        if most.exceeds(least) { known.total.real(0) / known.length as f64 } else { least.real(self.scale) }
    }
}

/// Merge two neighbouring parts; of equal values the first one is kept.
fn joined(before: NonNullValues, after: NonNullValues) -> NonNullValues {
    let total = match (before.total, after.total) {
        (Number::Whole(a), Number::Whole(b)) => Number::Whole(a + b),
        (a, b) => Number::Real(a.real(0) + b.real(0)),
    };
    let falls = before.least.0.exceeds(after.least.0);
    let rises = after.most.0.exceeds(before.most.0);
    NonNullValues {
        least: if falls { after.least } else { before.least },
        most: if rises { after.most } else { before.most },
        last: after.last,
        length: before.length + after.length,
        total,
    }
}

impl Step for ZoomCounter {
    fn load(&mut self, input: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.latest.resize(partitions, (i64::MIN, i64::MIN));
        self.open.resize(partitions, None);
        if !input.empty() {
            self.numbers = Some(Numbers::new(input.payload_column(0)?)?);
        }
        Ok(())
    }

    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let (start, end) = self.latest[row.code];
        if end > row.ts {
            return Err(Stop::Overlap(start, end));
        }
        self.latest[row.code] = (row.ts, row.end);
        let (ts, end) = (row.ts.max(self.from), row.end.min(self.to));
        if ts >= end {
            return Ok(());
        }
        let numbers = self.numbers.as_ref();
        let value = numbers.and_then(|numbers| numbers.get(row.row as u32 as usize));
        let part = |this: &Self, step: i64, ts: i64, end: i64| Cell {
            step,
            ts,
            end,
            known: value.map(|value| this.known(value, end - ts, row.row)),
        };
        let (first, last) = (ts.div_euclid(self.step), end.div_euclid(self.step));
        let whole = first + i64::from(ts.rem_euclid(self.step) > 0);
        if whole > last {
            self.add(part(self, first, ts, end), row.code, out)?;
            return Ok(());
        }
        // Both edges lie between the span's start and end.
        let (begin, stop) = (whole * self.step, last * self.step);
        if ts < begin {
            self.add(part(self, first, ts, begin), row.code, out)?;
        }
        if begin < stop {
            self.close(row.code, out)?;
            self.put(part(self, whole, begin, stop), row.code, out)?;
        }
        if stop < end {
            self.add(part(self, last, stop, end), row.code, out)?;
        }
        Ok(())
    }

    fn settle(&mut self, ts: i64, out: &mut Spans) -> Result<(), ArrowError> {
        let now = ts.div_euclid(self.step);
        for code in 0..self.open.len() {
            if self.open[code].is_some_and(|cell| cell.step < now) {
                self.close(code, out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        (0..self.open.len()).try_for_each(|code| self.close(code, out))
    }

    fn needed(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        let known = self.open.iter().flatten().filter_map(|cell| cell.known);
        Box::new(known.flat_map(NonNullValues::rows))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, step, start=None, stop=None, cancel=None))]
pub fn zoom_counter(
    spans: InputStream,
    partitions: usize,
    names: Vec<String>,
    step: i64,
    start: Option<i64>,
    stop: Option<i64>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    if step <= 0 {
        return Err(PyValueError::new_err(format!("a step of {step} ns, expected more than 0")));
    }
    let made = StepColumns { numbers: 0, picked: 3, reals: 1 };
    over_spans(spans, partitions, made, names, cancel, |input| {
        let fields = input.payload_fields();
        let [field] = fields.as_slice() else {
            return Err(fail(format!("span input has {} columns of values, expected one", fields.len())));
        };
        Numbers::check(field.data_type())?;
        Ok(ZoomCounter {
            from: start.unwrap_or(i64::MIN),
            to: stop.unwrap_or(i64::MAX),
            step,
            scale: scale(field.data_type()),
            exact: is_narrow(field.data_type()),
            ..ZoomCounter::default()
        })
    })
}
