//! The columns of a batch by name, in any of the engine's representations.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// A batch with columns by name.
pub struct Rows {
    batch: RecordBatch,
}

pub fn wrong(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Rows {
    pub fn new(batch: RecordBatch) -> Rows {
        Rows { batch }
    }

    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    fn of(&self, name: &str, kind: &DataType) -> Result<arrow_array::ArrayRef, ArrowError> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| ArrowError::SchemaError(format!("no column `{name}`")))?;
        cast(column, kind)
    }

    pub fn ints(&self, name: &str) -> Result<Int64Array, ArrowError> {
        Ok(self.of(name, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
    }

    pub fn floats(&self, name: &str) -> Result<Float64Array, ArrowError> {
        Ok(self.of(name, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
    }

    pub fn texts(&self, name: &str) -> Result<StringArray, ArrowError> {
        Ok(self.of(name, &DataType::Utf8)?.as_string::<i32>().clone())
    }
}

/// The value of a row, None if it is null.
pub fn int(values: &Int64Array, row: usize) -> Option<i64> {
    values.is_valid(row).then(|| values.value(row))
}

/// The text of a row, empty if it is null.
pub fn text(values: &StringArray, row: usize) -> &str {
    if values.is_valid(row) { values.value(row) } else { "" }
}
