//! `flatten`: convert spans that may overlap into spans of the innermost open one of their partition at each time.

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::cancel::Cancel;
use super::single::{Row, Spans, Step, StepColumns, Stop, over_spans};
use super::source::ChunkedInput;
use crate::exchange::{InputStream, OutputStream};

struct Flatten {
    parts: Vec<Part>,
}

/// The spans of one partition that will be innermost at some time, the current one last.
///
/// Starts ascend and ends descend, so that when one ends all below it are open; a span that ends no later than one
/// preferred to it will never be visible and is not kept.
#[derive(Clone, Default)]
struct Part {
    open: Vec<Row>,
    since: i64,
}

impl Part {
    /// Add the stretch until `t` of the innermost span.
    #[inline]
    fn show(&mut self, t: i64, out: &mut Spans) -> Result<(), ArrowError> {
        if let Some(top) = self.open.last()
            && self.since < t
        {
            out.push(self.since, t, top.code, top.row)?;
        }
        self.since = t;
        Ok(())
    }

    fn expire(&mut self, until: i64, out: &mut Spans) -> Result<(), ArrowError> {
        while let Some(top) = self.open.last().copied()
            && top.end <= until
        {
            self.show(top.end, out)?;
            self.open.pop();
        }
        Ok(())
    }
}

impl Step for Flatten {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.parts.resize(partitions, Part::default());
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let part = &mut self.parts[row.code];
        part.expire(row.ts, out)?;
        let first = part.open.partition_point(|other| other.end > row.end);
        let ends_first = &part.open[first..];
        let preferred = ends_first.partition_point(|other| other.ts < row.ts);
        let simultaneous = ends_first.get(preferred);
        if simultaneous.is_some_and(|other| other.end == row.end) {
            return Ok(());
        }
        if simultaneous.is_none() {
            part.show(row.ts, out)?;
        }
        part.open.splice(first..first + preferred, [row]);
        Ok(())
    }

    fn settle(&mut self, ts: i64, out: &mut Spans) -> Result<(), ArrowError> {
        let mut parts = self.parts.iter_mut();
        parts.try_for_each(|part| part.expire(ts, out))
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        let mut parts = self.parts.iter_mut();
        parts.try_for_each(|part| part.expire(i64::MAX, out))
    }

    fn needed(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        let open = self.parts.iter().flat_map(|part| &part.open);
        Box::new(open.map(|row| row.row))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, cancel=None))]
pub fn flatten(
    spans: InputStream,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    over_spans(spans, partitions, StepColumns::default(), names, cancel, |_| Ok(Flatten { parts: Vec::new() }))
}
