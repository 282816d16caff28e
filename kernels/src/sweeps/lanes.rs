//! `lanes`: assign each span, which may overlap others, the lowest lane that is free in its partition at its start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::cancel::Cancel;
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

struct Lanes {
    parts: Vec<Part>,
}

/// The lanes of one partition.
#[derive(Clone, Default)]
struct Part {
    busy: BinaryHeap<Reverse<(i64, i64)>>,
    free: BinaryHeap<Reverse<i64>>,
}

impl Step for Lanes {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.parts.resize(partitions, Part::default());
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let part = &mut self.parts[row.code];
        while let Some(Reverse((end, lane))) = part.busy.peek().copied()
            && end <= row.ts
        {
            part.busy.pop();
            part.free.push(Reverse(lane));
        }
        let next = part.busy.len() as i64;
        let lane = part.free.pop().map_or(next, |Reverse(lane)| lane);
        part.busy.push(Reverse((row.end, lane)));
        out.push(row.ts, row.end, row.code, row.row)?;
        out.number(lane);
        Ok(())
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, cancel=None))]
pub fn lanes(
    spans: InputStream,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    over_spans(spans, partitions, StepColumns::numbers(1), names, cancel, |_| Ok(Lanes { parts: Vec::new() }))
}
