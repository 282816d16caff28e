//! `rows`: return an Arrow stream as Python values, lists of columns; `schema`: its column names and types.

use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::failure::{to_python, upstream};
use super::values::values;
use crate::exchange::{InputSchema, InputStream, Reader};

/// Rows that become Python values at once; as such they take several times the memory that they take in Arrow.
const MOST: usize = 8192;

/// Iterates over the batches of a stream, in pieces.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct Rows {
    schema: Vec<(String, String)>,
    pieces: Mutex<Pieces>,
}

struct Pieces {
    reader: Option<Reader>,
    /// What is left of a batch.
    rest: Option<RecordBatch>,
}

impl Pieces {
    fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut rest = self.rest.take();
        if rest.is_none() {
            let read = self.reader.as_mut().and_then(|reader| reader.next());
            if !matches!(read, Some(Ok(_))) {
                self.reader = None;
            }
            rest = read.transpose()?;
        }
        Ok(rest.map(|batch| {
            let many = batch.num_rows() > MOST;
            self.rest = many.then(|| batch.slice(MOST, batch.num_rows() - MOST));
            if many { batch.slice(0, MOST) } else { batch }
        }))
    }
}

#[pymethods]
impl Rows {
    /// Names and type texts of the columns.
    #[getter]
    fn schema(&self) -> Vec<(String, String)> {
        self.schema.clone()
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyList>>>> {
        let pulled = py.detach(|| self.pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next());
        let Some(batch) = pulled.map_err(|error| to_python(upstream(&error)))? else {
            return Ok(None);
        };
        batch.columns().iter().map(|column| PyList::new(py, values(py, column)?)).collect::<PyResult<_>>().map(Some)
    }
}

#[pyfunction]
pub fn rows(stream: InputStream) -> PyResult<Rows> {
    let reader = stream.into_reader();
    Ok(Rows { schema: describe(&reader.schema()), pieces: Mutex::new(Pieces { reader: Some(reader), rest: None }) })
}

#[pyfunction]
pub fn schema(source: InputSchema) -> Vec<(String, String)> {
    describe(&source.0)
}

fn describe(schema: &Schema) -> Vec<(String, String)> {
    schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
}
