//! `rows`: return an Arrow stream as Python values, a list per column and batch; `schema`: its column names and types.

use std::sync::Mutex;

use arrow_schema::Schema;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::failure::{to_python, upstream};
use super::values::values;
use crate::exchange::{InputSchema, InputStream, Reader};

/// Iterates over the batches of a stream.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct Rows {
    schema: Vec<(String, String)>,
    reader: Mutex<Option<Reader>>,
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
        let pulled = py.detach(|| {
            let mut place = self.reader.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let batch = place.as_mut().and_then(|reader| reader.next());
            if !matches!(batch, Some(Ok(_))) {
                *place = None;
            }
            batch.transpose()
        });
        let Some(batch) = pulled.map_err(|error| to_python(upstream(&error)))? else {
            return Ok(None);
        };
        batch.columns().iter().map(|column| PyList::new(py, values(py, column)?)).collect::<PyResult<_>>().map(Some)
    }
}

#[pyfunction]
pub fn rows(stream: InputStream) -> PyResult<Rows> {
    let reader = stream.into_reader();
    Ok(Rows { schema: describe(&reader.schema()), reader: Mutex::new(Some(reader)) })
}

#[pyfunction]
pub fn schema(source: InputSchema) -> Vec<(String, String)> {
    describe(&source.0)
}

fn describe(schema: &Schema) -> Vec<(String, String)> {
    schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
}
