//! Convert decoded rows of one or many chunks into the final columns of a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_cast::cast;
use arrow_pyarrow::ToPyArrow;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::decode::HashKind;
use super::hashes::{Book, HashText};
use super::metadata::finish_metadata;
use super::names::{FILE, raw_key};
use super::report::Report;
use super::tables::{Lineage, Timed};
use super::trace_metadata::{ColumnMetadata, EventMetadata, TraceMetadata};
use crate::columns::{Kind, column_name};
use crate::exchange::InputBatch;

const METADATA: &str = "metadata";

/// A converter of decoded rows into finished tables, by the metadata of a trace and the hashes in its files (file,
/// dimension, hash, text).
#[pyclass(frozen)]
pub struct PfwFinisher {
    trace_metadata: TraceMetadata,
    book: Book,
}

/// A final column.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
pub struct PfwColumn {
    name: String,
    /// The type of its values.
    kind: &'static str,
    /// The decoded column it comes from.
    decoded: String,
    /// Its derivation: `column`, `texts` of its hashes, or `both`.
    how: &'static str,
}

#[pymethods]
impl PfwFinisher {
    #[new]
    fn new(py: Python<'_>, trace_metadata: TraceMetadata, hashes: Vec<(usize, String, String, String)>) -> PfwFinisher {
        py.detach(|| {
            let told = hashes.iter().filter_map(|(file, dimension, hash, text)| {
                Some(HashText {
                    file: *file,
                    kind: HashKind::of_dimension(dimension)?,
                    hash: hash.as_bytes(),
                    text: text.as_bytes(),
                })
            });
            PfwFinisher { book: Book::new(told, &mut Report::default()), trace_metadata }
        })
    }

    /// Convert decoded rows of an event (or of `metadata`), with `dctv:file` as last column, to the table's final rows.
    ///
    /// Columns may be in any order; missing ones are null, narrower ones are cast.
    fn finish(&self, py: Python<'_>, name: &str, batch: InputBatch) -> PyResult<Py<PyAny>> {
        let rows = batch.0;
        let finished = py
            .detach(|| match name {
                METADATA => self.metadata(&rows),
                _ => self.event(name, &rows).and_then(|timed| batch_of(timed, self.trace_metadata.start_ns)),
            })
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(finished.to_pyarrow(py)?.unbind())
    }

    /// The final columns of an event or of `metadata`.
    fn columns(&self, name: &str) -> PyResult<Vec<PfwColumn>> {
        let rows = RecordBatch::new_empty(Arc::new(Schema::empty()));
        let rows = match name {
            METADATA => self.metadata(&rows).map(|batch| plain_columns(&batch)),
            _ => self.event(name, &rows).map(|timed| self.event_columns(name, timed)),
        };
        rows.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl PfwFinisher {
    fn found(&self, name: &str) -> Option<&EventMetadata> {
        self.trace_metadata.events.iter().find(|event| event.name == name)
    }

    fn event_columns(&self, name: &str, timed: Timed) -> Vec<PfwColumn> {
        let decoded = self.found(name).map_or(&[][..], |event| &event.columns);
        let decoded = |index: usize| decoded.get(index).map_or("", |column| &column.name);
        let row = |column: super::tables::TableColumn| {
            let (from, how) = match column.lineage {
                Lineage::Column(index) => (decoded(index), "column"),
                Lineage::Texts(index) => (decoded(index), "texts"),
                Lineage::Both => ("", "both"),
            };
            PfwColumn { name: column.name, kind: type_name(&column.array), decoded: from.to_owned(), how }
        };
        timed.columns.into_iter().map(row).collect()
    }

    fn metadata(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = &self.trace_metadata.metadata;
        let decoded = decoded(columns, rows)?;
        let empty: Vec<bool> = columns.iter().map(|column| column.empty).collect();
        finish_metadata(&decoded, &empty)
    }

    fn event(&self, name: &str, rows: &RecordBatch) -> Result<Timed, ArrowError> {
        let event = self.found(name).ok_or_else(|| unknown(name))?;
        let shape = event.shape();
        let mut timed = Timed::new(&decoded(&event.columns, rows)?);
        timed.name_columns(&shape);
        timed.resolve_hashes(&runs(rows)?, &self.book, &shape)?;
        Ok(timed)
    }
}

fn plain_columns(batch: &RecordBatch) -> Vec<PfwColumn> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let column = |(field, array): (&FieldRef, &ArrayRef)| PfwColumn {
        name: field.name().clone(),
        kind: type_name(array),
        decoded: String::new(),
        how: "column",
    };
    columns.map(column).collect()
}

fn type_name(array: &ArrayRef) -> &'static str {
    match array.data_type() {
        DataType::Int64 => "int64",
        DataType::UInt64 => "uint64",
        DataType::Float64 => "double",
        DataType::Boolean => "bool",
        _ => "string",
    }
}

fn unknown(name: &str) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("the trace has no table {name}"))
}

/// The columns in the order of the whole load, in their final types, named by their keys.
fn decoded(columns: &[ColumnMetadata], rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for column in columns {
        let array = converted(column.kind(), rows.column_by_name(&column.name), rows.num_rows())?;
        let name = column_name(&raw_key(&column.name));
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

fn converted(kind: Kind, array: Option<&ArrayRef>, rows: usize) -> Result<ArrayRef, ArrowError> {
    let wanted = match kind {
        Kind::Int => DataType::Int64,
        Kind::Uint => DataType::UInt64,
        Kind::Float => DataType::Float64,
        Kind::Bool => DataType::Boolean,
        Kind::Empty | Kind::Text => DataType::Utf8,
    };
    let Some(array) = array else {
        return Ok(new_null_array(&wanted, rows));
    };
    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    if *array.data_type() == wanted || (wanted == DataType::Utf8 && *array.data_type() == coded) {
        return Ok(Arc::clone(array));
    }
    cast(array, &wanted)
}

/// The file of each run of rows, by its first row.
fn runs(rows: &RecordBatch) -> Result<Vec<(usize, usize)>, ArrowError> {
    let Some(array) = rows.column_by_name(FILE) else {
        return Ok(vec![(0, 0)]);
    };
    let array = cast(array, &DataType::UInt32)?;
    let files: &UInt32Array = array.as_primitive::<UInt32Type>();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (row, file) in files.values().iter().enumerate() {
        if runs.last().is_none_or(|(_, last)| *last != *file as usize) {
            runs.push((row, *file as usize));
        }
    }
    Ok(runs)
}

fn batch_of(timed: Timed, start: i64) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(timed.columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(timed.columns.len());
    for (index, mut column) in timed.columns.into_iter().enumerate() {
        if index == 0 {
            let times = column.array.as_primitive::<Int64Type>().values();
            let since = times.iter().map(|time| time.saturating_sub(start));
            column.array = Arc::new(Int64Array::from_iter_values(since));
        }
        fields.push(Field::new(column.name, column.array.data_type().clone(), index > 0));
        arrays.push(column.array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}
