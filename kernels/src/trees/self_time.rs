//! `self_time`: subtract from each slice, in time order, the time of the slices nested in it.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;

use super::forest::Forest;
use super::input::Rows;
use crate::exchange::{InputStream, OutputStream, Reader};
use crate::sweeps::{Cancel, Sweep, Token, made, schema, stream, to_python};

/// Each slice's duration without the time covered by its children; None if it never ended.
///
/// Rows ascend in time: children may overlap, and overlaps count once.
pub fn own_times(forest: &Forest, times: &[Option<i64>], durations: &[Option<i64>]) -> Vec<Option<i64>> {
    let ends: Vec<Option<i64>> = times
        .iter()
        .zip(durations)
        .map(|(ts, duration)| ts.and_then(|ts| duration.and_then(|length| ts.checked_add(length))))
        .collect();
    let mut own = durations.to_vec();
    let mut covered = vec![i64::MIN; times.len()];
    for (row, ts) in times.iter().enumerate() {
        let Some((parent, ts)) = forest.above(row).zip(*ts) else {
            continue;
        };
        let Some(last) = ends.get(parent).copied().flatten() else {
            continue;
        };
        let end = ends.get(row).copied().flatten().map_or(last, |end| end.min(last));
        if let (Some(until), Some(Some(rest))) = (covered.get_mut(parent), own.get_mut(parent)) {
            let start = ts.max(*until).max(times.get(parent).copied().flatten().unwrap_or(ts));
            *rest = rest.saturating_sub(end.saturating_sub(start).max(0));
            *until = end.max(*until);
        }
    }
    own
}

struct SelfTime {
    input: Option<Reader>,
    cancel: Token,
}

impl Sweep for SelfTime {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        let Some(reader) = self.input.take() else {
            return Ok(None);
        };
        let rows = Rows::read(reader, 4, false, &self.cancel)?;
        let forest = Forest::new(rows.integers(1), rows.integers(2));
        let own = own_times(&forest, rows.integers(0), rows.integers(3));
        let ids = rows.integers(1).iter().copied().collect::<Int64Array>();
        Ok(Some(vec![Arc::new(ids), Arc::new(own.into_iter().collect::<Int64Array>())]))
    }
}

#[pyfunction]
#[pyo3(signature = (slices, *, names, cancel=None))]
pub fn self_time(slices: InputStream, names: Vec<String>, cancel: Option<PyRef<'_, Cancel>>) -> PyResult<OutputStream> {
    let cancel = Token::new(cancel);
    let input = Some(slices.into_reader());
    let fields = vec![made(DataType::Int64, true); 2];
    let schema = schema(fields, &names).map_err(to_python)?;
    let sweep = SelfTime { input, cancel: cancel.clone() };
    Ok(stream(schema, sweep, cancel))
}
