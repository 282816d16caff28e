//! Open a reader of a Python object with `__arrow_c_stream__` and `__arrow_c_schema__`, in the thread that needs it.

use std::sync::Arc;

use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;

use super::failure::fail;
use crate::exchange::{InputSchema, InputStream, OutputSchema, Reader};

#[pyfunction]
pub fn schema_of(stream: InputStream) -> OutputSchema {
    OutputSchema(stream.into_reader().schema())
}

/// An input to be opened.
pub struct Opening {
    source: Py<PyAny>,
    schema: SchemaRef,
}

impl Opening {
    pub fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let schema = Arc::new(source.extract::<InputSchema>()?.0);
        Ok(Self { source: source.clone().unbind(), schema })
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Open the stream. Must run in a thread that Python did not call: the engine releases Python's lock, which
    /// callers assume to hold.
    pub fn open(&self) -> Result<Reader, ArrowError> {
        let open = |py: Python<'_>| {
            let opened = self.source.bind(py).extract::<InputStream>();
            opened.map(InputStream::into_reader).map_err(|error| fail(error.value(py).to_string()))
        };
        Python::try_attach(open).unwrap_or_else(|| Err(fail("interrupted")))
    }

    /// Release the object, at once if Python is still running.
    pub fn close(self) {
        Python::try_attach(|_| drop(self));
    }
}
