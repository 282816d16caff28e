//! Exchange Arrow data with Python through the C data interface; only arrays go out as objects of pyarrow.

use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, PyArrowType};
use arrow_schema::{Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub type Reader = Box<dyn RecordBatchReader + Send>;

/// An array from or for Python.
pub type PyArray = PyArrowType<ArrayData>;

/// A schema that Python passes: any object with `__arrow_c_schema__`.
pub type InputSchema = PyArrowType<Schema>;

/// A schema for Python.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct OutputSchema(pub SchemaRef);

#[pymethods]
impl OutputSchema {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0)
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The array that Python passed.
pub fn array(column: PyArray) -> ArrayRef {
    make_array(column.0)
}

/// Pass an array to Python.
pub fn array_to_python(array: &dyn Array) -> PyArray {
    PyArrowType(array.to_data())
}

/// The bytes of an array of uint8, such as one over a mapped file; they are not copied.
pub fn bytes(column: PyArray) -> PyResult<Buffer> {
    let column = array(column);
    let bytes = column.as_primitive_opt::<UInt8Type>();
    bytes.map(|bytes| bytes.values().inner().clone()).ok_or_else(|| PyValueError::new_err("expected an array of uint8"))
}

/// A batch that Python passes: any object with `__arrow_c_array__`.
pub struct InputBatch(pub RecordBatch);

impl FromPyObject<'_, '_> for InputBatch {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(own) = object.cast::<OutputBatch>() {
            return Ok(Self(own.get().0.clone()));
        }
        RecordBatch::from_pyarrow_bound(&object).map(Self)
    }
}

/// A batch for Python, which need not load pyarrow to pass it on to another kernel.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct OutputBatch(pub RecordBatch);

#[pymethods]
impl OutputBatch {
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.schema())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer that cannot cast passes its own schema.
        drop(requested_schema);
        let rows = StructArray::from(self.0.clone()).into_data();
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&rows), c"arrow_array")?;
        Ok((schema_capsule(py, &self.0.schema())?, array))
    }
}

/// A stream that Python passes: any object with `__arrow_c_stream__`.
pub struct InputStream(ArrowArrayStreamReader);

impl InputStream {
    pub fn into_reader(self) -> Reader {
        Box::new(self.0)
    }
}

impl FromPyObject<'_, '_> for InputStream {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        ArrowArrayStreamReader::from_pyarrow_bound(&object).map(Self)
    }
}

/// A stream for Python, which takes it once.
///
/// This is no `pyarrow.RecordBatchReader`: engines read those by way of pyarrow's datasets.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct OutputStream {
    schema: SchemaRef,
    reader: Mutex<Option<Reader>>,
}

impl OutputStream {
    pub fn new(reader: Reader) -> Self {
        Self { schema: reader.schema(), reader: Mutex::new(Some(reader)) }
    }
}

#[pymethods]
impl OutputStream {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| PyValueError::new_err("this stream was already read"))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }
}
