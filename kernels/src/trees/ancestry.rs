//! `ancestry`: find the rows above or below a row, with distances, by ids and parents.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;

use super::forest::Forest;
use super::input::Rows;
use crate::exchange::{InputStream, OutputStream, Reader};
use crate::sweeps::{Cancel, Sweep, Token, int64, made, schema, stream, to_python};

struct Ancestry {
    input: Option<Reader>,
    id: i64,
    down: bool,
    cancel: Token,
}

impl Ancestry {
    fn rows(&self, reader: Reader) -> Result<Vec<ArrayRef>, ArrowError> {
        let rows = Rows::read(reader, 2, false, &self.cancel)?;
        let forest = Forest::new(rows.integers(0), rows.integers(1));
        let found = match forest.row(self.id) {
            None => Vec::new(),
            Some(start) if self.down => below(&forest, start),
            Some(start) => above(&forest, start),
        };
        let ids = found.iter().map(|&(row, _)| rows.integers(0).get(row).copied().flatten().unwrap_or_default());
        Ok(vec![int64(ids.collect()), int64(found.iter().map(|&(_, distance)| distance).collect())])
    }
}

fn above(forest: &Forest, start: usize) -> Vec<(usize, i64)> {
    let next = |&row: &usize| forest.above(row);
    std::iter::successors(Some(start), next).zip(0..).skip(1).collect()
}

fn below(forest: &Forest, start: usize) -> Vec<(usize, i64)> {
    let distances = forest.fold(
        |row, parent: Option<Option<i64>>| {
            if row == start { Some(0) } else { parent.flatten().map(|distance| distance + 1) }
        },
    );
    let found = distances.into_iter().enumerate();
    found.filter_map(|(row, distance)| distance.filter(|&far| far > 0).map(|far| (row, far))).collect()
}

impl Sweep for Ancestry {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        self.input.take().map(|reader| self.rows(reader)).transpose()
    }
}

#[pyfunction]
#[pyo3(signature = (rows, *, start, down, names, cancel=None))]
pub fn ancestry(
    rows: InputStream,
    start: i64,
    down: bool,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let cancel = Token::new(cancel);
    let input = Some(rows.into_reader());
    let fields = vec![made(DataType::Int64, false); 2];
    let schema = schema(fields, &names).map_err(to_python)?;
    let sweep = Ancestry { input, id: start, down, cancel: cancel.clone() };
    Ok(stream(schema, sweep, cancel))
}
