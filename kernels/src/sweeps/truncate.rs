//! `truncate`: cut each of the spans, which may overlap, at the start of the next in its partition.

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::cancel::Cancel;
use super::held::NULL_ROW;
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

struct Truncate {
    open: Vec<Row>,
}

const NO_ROW: Row = Row { ts: 0, end: 0, code: 0, row: NULL_ROW };

impl Step for Truncate {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.open.resize(partitions, NO_ROW);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let before = std::mem::replace(&mut self.open[row.code], row);
        if before.row != NULL_ROW && before.ts < row.ts {
            out.push(before.ts, before.end.min(row.ts), row.code, before.row)?;
        }
        Ok(())
    }

    fn settle(&mut self, ts: i64, out: &mut Spans) -> Result<(), ArrowError> {
        for row in &mut self.open {
            if row.row != NULL_ROW && row.end <= ts {
                out.push(row.ts, row.end, row.code, row.row)?;
                *row = NO_ROW;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        let open = self.open.iter().filter(|row| row.row != NULL_ROW);
        open.into_iter().try_for_each(|row| out.push(row.ts, row.end, row.code, row.row))
    }

    fn needed(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.open.iter().map(|row| row.row))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, cancel=None))]
pub fn truncate(
    spans: InputStream,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    over_spans(spans, partitions, StepColumns::default(), names, cancel, |_| Ok(Truncate { open: Vec::new() }))
}
