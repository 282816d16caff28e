//! Wrap a sweep that makes batches on demand in a Python object with `__arrow_c_stream__`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

use super::cancel::Token;
use super::failure::fail;
use super::partition::Partitions;
use crate::exchange::OutputStream;

/// Work that yields one output batch at a time.
pub trait Sweep: Send {
    /// Return the columns of the next batch; None after the last.
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError>;
}

struct Stream<S> {
    schema: SchemaRef,
    sweep: Option<S>,
    cancel: Token,
}

/// Make a stream of a sweep; nothing runs until the first batch is pulled.
pub fn stream(schema: SchemaRef, sweep: impl Sweep + 'static, cancel: Token) -> OutputStream {
    OutputStream::new(Box::new(Stream { schema, sweep: Some(sweep), cancel }))
}

impl<S: Sweep> Stream<S> {
    /// The next batch that has rows.
    fn step(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            match self.batch()? {
                Some(batch) if batch.num_rows() == 0 => (),
                other => return Ok(other),
            }
        }
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(sweep) = &mut self.sweep else {
            return Ok(None);
        };
        self.cancel.check()?;
        // A panic must not unwind into the C code that pulls the stream: that would end the process.
        let columns = catch_unwind(AssertUnwindSafe(|| sweep.next())).unwrap_or_else(|_| Err(fail("kernel panicked")));
        columns?.map(|columns| RecordBatch::try_new(self.schema.clone(), columns)).transpose()
    }
}

impl<S: Sweep> Iterator for Stream<S> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if !matches!(step, Ok(Some(_))) {
            self.sweep = None;
        }
        step.transpose()
    }
}

impl<S: Sweep> RecordBatchReader for Stream<S> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// A column made by the kernel itself.
pub fn made(data_type: DataType, nullable: bool) -> FieldRef {
    Arc::new(Field::new("", data_type, nullable))
}

/// Give the fields their output names; columns of an input may be NULL.
pub fn schema(fields: Vec<FieldRef>, names: &[String]) -> Result<SchemaRef, ArrowError> {
    if fields.len() != names.len() {
        return Err(fail(format!("{} names given for {} output columns", names.len(), fields.len())));
    }
    let rename = |(field, name): (FieldRef, &String)| Field::clone(&field).with_name(name);
    Ok(Arc::new(Schema::new(fields.into_iter().zip(names).map(rename).collect::<Vec<_>>())))
}

/// Fields that may be NULL in the output whatever the input's schema.
pub fn nullable(fields: Vec<FieldRef>) -> impl Iterator<Item = FieldRef> {
    fields.into_iter().map(|field| Arc::new(Field::clone(&field).with_nullable(true)))
}

/// A column of int64 values.
pub fn int64(values: Vec<i64>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

/// Names of the partition columns, which begin at `first` among the output's names.
pub fn partitions(names: &[String], first: usize, types: Vec<DataType>) -> Result<Partitions, ArrowError> {
    let names = names.get(first..first + types.len()).ok_or_else(|| fail("too few output names"))?;
    Partitions::new(names, types)
}
