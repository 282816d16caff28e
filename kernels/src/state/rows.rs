//! Intervals that were found -> a batch of Arrow columns.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::cell::Kind;
use super::find::Found;
use super::tree::Tree;

#[derive(Default)]
pub struct Rows {
    quarks: Vec<i32>,
    found: Vec<Found>,
}

pub fn schema() -> SchemaRef {
    let field = |name: &str, kind, nullable| Field::new(name, kind, nullable);
    Arc::new(Schema::new(vec![
        field("quark", DataType::Int32, false),
        field("start", DataType::Int64, false),
        field("end", DataType::Int64, false),
        field("ongoing", DataType::Boolean, false),
        field("kind", DataType::Int8, false),
        field("whole", DataType::Int64, true),
        field("real", DataType::Float64, true),
        field("text", DataType::Utf8, true),
    ]))
}

impl Rows {
    pub fn len(&self) -> usize {
        self.found.len()
    }

    pub fn into_found(self) -> Vec<Found> {
        self.found
    }

    pub fn push(&mut self, place: usize, found: Found) {
        self.quarks.push(place as i32);
        self.found.push(found);
    }

    fn values(&self) -> [ArrayRef; 3] {
        let found = &self.found;
        let real =
            |one: &Found| (one.cell.kind == Kind::Double).then(|| f64::from_bits(one.cell.bits));
        let text = found.iter().map(|one| one.cell.text.as_deref());
        [
            Arc::new(
                found
                    .iter()
                    .map(|one| one.cell.whole())
                    .collect::<Int64Array>(),
            ),
            Arc::new(found.iter().map(real).collect::<Float64Array>()),
            Arc::new(text.collect::<StringArray>()),
        ]
    }

    fn times(&self, of: impl Fn(&Found) -> i64) -> ArrayRef {
        Arc::new(
            self.found
                .iter()
                .map(|one| Some(of(one)))
                .collect::<Int64Array>(),
        )
    }

    /// # Errors
    /// Arrow refuses the columns.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        let found = &self.found;
        let ongoing = found.iter().map(|one| Some(one.ongoing));
        let kinds = found.iter().map(|one| Some(one.cell.kind as i8));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(self.quarks.clone())),
            self.times(|one| one.start),
            self.times(|one| one.end),
            Arc::new(ongoing.collect::<BooleanArray>()),
            Arc::new(kinds.collect::<Int8Array>()),
        ];
        columns.extend(self.values());
        RecordBatch::try_new(schema(), columns)
    }

    /// The same as a span table: times with a duration, paths beside quarks.
    ///
    /// # Errors
    /// Arrow refuses the columns.
    pub fn spans(self, tree: &Tree, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
        let mut paths = StringBuilder::new();
        let mut last = None;
        for quark in &self.quarks {
            let known = last.take().filter(|(known, _)| known == quark);
            let (_, path) = known.unwrap_or_else(|| (*quark, tree.path(*quark as usize)));
            paths.append_value(&path);
            last = Some((*quark, path));
        }
        let mut columns: Vec<ArrayRef> = vec![
            self.times(|one| one.start),
            self.times(|one| one.end.saturating_sub(one.start).saturating_add(1)),
            Arc::new(Int32Array::from(self.quarks.clone())),
            Arc::new(paths.finish()),
        ];
        columns.extend(self.values());
        RecordBatch::try_new(schema, columns)
    }
}

/// The columns of spans, by the names that they are to have.
///
/// # Errors
/// There are more or fewer names.
pub fn span_schema(names: &[String]) -> Result<SchemaRef, ArrowError> {
    let types = [
        (DataType::Int64, false),
        (DataType::Int64, false),
        (DataType::Int32, false),
        (DataType::Utf8, false),
        (DataType::Int64, true),
        (DataType::Float64, true),
        (DataType::Utf8, true),
    ];
    if names.len() != types.len() {
        let text = format!("expected {} names, found {}", types.len(), names.len());
        return Err(ArrowError::InvalidArgumentError(text));
    }
    let fields = names.iter().zip(types);
    let fields = fields.map(|(name, (kind, nullable))| Field::new(name, kind, nullable));
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}
