//! `zoom`: merge spans shorter than a step into at most one cell per step and partition; keep longer spans unchanged.

use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cancel::Cancel;
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

/// Spans of one partition that begin in one step, each shorter than that.
#[derive(Clone, Copy)]
struct Cell {
    /// The number of the step.
    step: i64,
    ts: i64,
    end: i64,
    count: i64,
    total: i64,
    longest: i64,
    /// The first of the longest.
    row: u64,
}

struct Zoom {
    from: i64,
    to: i64,
    step: i64,
    /// Start and end of each partition's latest span.
    latest: Vec<(i64, i64)>,
    open: Vec<Option<Cell>>,
}

impl Zoom {
    fn close(&mut self, code: usize, out: &mut Spans) -> Result<(), ArrowError> {
        let Some(cell) = self.open[code].take() else {
            return Ok(());
        };
        out.push(cell.ts, cell.end, code, cell.row)?;
        out.number(cell.count);
        out.number(cell.total);
        out.number(cell.longest);
        Ok(())
    }
}

impl Step for Zoom {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.latest.resize(partitions, (i64::MIN, i64::MIN));
        self.open.resize(partitions, None);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let (start, end) = self.latest[row.code];
        if end > row.ts {
            return Err(Stop::Overlap(start, end));
        }
        self.latest[row.code] = (row.ts, row.end);
        if row.end <= self.from || row.ts >= self.to {
            return Ok(());
        }
        let length = row.end - row.ts;
        let step = row.ts.div_euclid(self.step);
        if let Some(cell) = &mut self.open[row.code]
            && cell.step == step
            && length < self.step
        {
            cell.end = row.end;
            cell.count += 1;
            cell.total += length;
            if length > cell.longest {
                cell.longest = length;
                cell.row = row.row;
            }
            return Ok(());
        }
        self.close(row.code, out)?;
        self.open[row.code] =
            Some(Cell { step, ts: row.ts, end: row.end, count: 1, total: length, longest: length, row: row.row });
        if length >= self.step {
            self.close(row.code, out)?;
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
        Box::new(self.open.iter().flatten().map(|cell| cell.row))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, step, start=None, stop=None, cancel=None))]
pub fn zoom(
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
    let zoom = Zoom {
        from: start.unwrap_or(i64::MIN),
        to: stop.unwrap_or(i64::MAX),
        step,
        latest: Vec::new(),
        open: Vec::new(),
    };
    over_spans(spans, partitions, StepColumns::numbers(3), names, cancel, |_| Ok(zoom))
}
