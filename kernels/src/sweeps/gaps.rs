//! `fill_gaps`: find the intervals of each partition without spans, and return them with or without the spans.

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::cancel::Cancel;
use super::held::NULL_ROW;
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

struct Gaps {
    keep: bool,
    start: Option<i64>,
    stop: Option<i64>,
    last: i64,
    /// Start and end of each partition's latest span.
    latest: Vec<(i64, i64)>,
}

impl Gaps {
    /// Add the gap from the end of a partition's last span, clipped to the range.
    #[inline]
    fn gap(&self, code: usize, until: i64, out: &mut Spans) -> Result<(), ArrowError> {
        let Some(start) = self.start else {
            return Ok(());
        };
        let from = self.latest[code].1.max(start);
        let until = self.stop.map_or(until, |stop| stop.min(until));
        if from < until {
            out.push(from, until, code, NULL_ROW)?;
        }
        Ok(())
    }
}

impl Step for Gaps {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.latest.resize(partitions, (i64::MIN, i64::MIN));
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let (start, end) = self.latest[row.code];
        if end > row.ts {
            return Err(Stop::Overlap(start, end));
        }
        self.start.get_or_insert(row.ts);
        self.gap(row.code, row.ts, out)?;
        if self.keep {
            out.push(row.ts, row.end, row.code, row.row)?;
        }
        self.last = self.last.max(row.end);
        self.latest[row.code] = (row.ts, row.end);
        Ok(())
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        let until = self.stop.unwrap_or(self.last);
        (0..self.latest.len()).try_for_each(|code| self.gap(code, until, out))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, keep, names, start=None, stop=None, cancel=None))]
pub fn fill_gaps(
    spans: InputStream,
    partitions: usize,
    keep: bool,
    names: Vec<String>,
    start: Option<i64>,
    stop: Option<i64>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let step = Gaps { keep, start, stop, last: i64::MIN, latest: Vec::new() };
    over_spans(spans, partitions, StepColumns::default(), names, cancel, |_| Ok(step))
}
