//! `reachable`: follow arrows between ids, and return all ids reachable from one id, with distances.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::input::Rows;
use crate::exchange::{InputStream, OutputStream, Reader};
use crate::sweeps::{Cancel, Sweep, Token, int64, made, schema, stream, to_python};

struct Reachable {
    input: Option<Reader>,
    id: i64,
    cancel: Token,
}

impl Sweep for Reachable {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        let Some(reader) = self.input.take() else {
            return Ok(None);
        };
        let rows = Rows::read(reader, 2, false, &self.cancel)?;
        let mut targets: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
        for (from, to) in rows.integers(0).iter().zip(rows.integers(1)) {
            if let (Some(from), Some(to)) = (from, to) {
                targets.entry(*from).or_default().push(*to);
            }
        }
        let (mut met, mut ids, mut distances) = (FxHashSet::default(), vec![self.id], vec![0]);
        met.insert(self.id);
        let mut at = 0;
        while let (Some(&id), Some(&distance)) = (ids.get(at), distances.get(at)) {
            for &target in targets.get(&id).map_or(&[][..], Vec::as_slice) {
                if met.insert(target) {
                    ids.push(target);
                    distances.push(distance + 1);
                }
            }
            at += 1;
        }
        Ok(Some(vec![int64(ids), int64(distances)]))
    }
}

#[pyfunction]
#[pyo3(signature = (arrows, *, start, names, cancel=None))]
pub fn reachable(
    arrows: InputStream,
    start: i64,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let cancel = Token::new(cancel);
    let input = Some(arrows.into_reader());
    let fields = vec![made(DataType::Int64, false); 2];
    let schema = schema(fields, &names).map_err(to_python)?;
    let sweep = Reachable { input, id: start, cancel: cancel.clone() };
    Ok(stream(schema, sweep, cancel))
}
