//! Intervals that were found -> a batch of Arrow columns.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::cell::Kind;
use super::find::Found;

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

    pub fn push(&mut self, place: usize, found: Found) {
        self.quarks.push(place as i32);
        self.found.push(found);
    }

    /// # Errors
    /// Arrow refuses the columns.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        let found = &self.found;
        let real =
            |one: &Found| (one.cell.kind == Kind::Double).then(|| f64::from_bits(one.cell.bits));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(self.quarks)),
            Arc::new(
                found
                    .iter()
                    .map(|one| Some(one.start))
                    .collect::<Int64Array>(),
            ),
            Arc::new(
                found
                    .iter()
                    .map(|one| Some(one.end))
                    .collect::<Int64Array>(),
            ),
            Arc::new(
                found
                    .iter()
                    .map(|one| Some(one.ongoing))
                    .collect::<BooleanArray>(),
            ),
            Arc::new(
                found
                    .iter()
                    .map(|one| Some(one.cell.kind as i8))
                    .collect::<Int8Array>(),
            ),
            Arc::new(
                found
                    .iter()
                    .map(|one| one.cell.whole())
                    .collect::<Int64Array>(),
            ),
            Arc::new(found.iter().map(real).collect::<Float64Array>()),
            Arc::new(
                found
                    .iter()
                    .map(|one| one.cell.text.as_deref())
                    .collect::<StringArray>(),
            ),
        ];
        RecordBatch::try_new(schema(), columns)
    }
}
