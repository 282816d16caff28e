//! A stream of rows -> one Parquet file, read in one thread and encoded in another.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use super::coded;
use super::layout::{self, Form, Layout};
use crate::sweeps::fail;

/// Batches that wait for the thread that encodes.
const AHEAD: usize = 1;

pub struct Written {
    pub rows: u64,
    pub metadata: ParquetMetaData,
}

fn failed(path: &Path, error: ParquetError) -> ArrowError {
    let error = match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => return unwritable(path, &error),
            Err(error) => error,
        },
        other => other.into(),
    };
    fail(format!("cannot write `{}`: {error}", path.display()))
}

fn unwritable(path: &Path, error: &io::Error) -> ArrowError {
    let text = format!("cannot write `{}`: {error}", path.display());
    let source = match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), text.clone()),
    };
    ArrowError::IoError(text, source)
}

/// A column's part of a row group, by this crate or by the library.
enum Chunk {
    Coded(coded::Chunk),
    Other(ArrowColumnChunk),
}

/// A file that is being written, a row group at a time.
struct Writing {
    writer: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    columns: SchemaDescriptor,
    schema: SchemaRef,
    layout: Layout,
    codec: zstd::bulk::Compressor<'static>,
    form: Form,
    groups: usize,
    waiting: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Writing {
    fn new(file: File, first: &RecordBatch, form: Form) -> Result<Writing, ParquetError> {
        let schema = first.schema();
        let layout = layout::layout(first, form)?;
        let columns = ArrowSchemaConverter::new().convert(&schema)?;
        let properties = layout.properties.clone();
        let writer = SerializedFileWriter::new(file, columns.root_schema_ptr(), properties)?;
        Ok(Writing {
            factory: ArrowRowGroupWriterFactory::new(&writer, schema.clone()),
            writer,
            columns,
            schema,
            layout,
            codec: zstd::bulk::Compressor::new(coded::LEVEL)?,
            form,
            groups: 0,
            waiting: Vec::new(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Takes rows; writes row groups that are full.
    fn add(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        let mut at = 0;
        while at < batch.num_rows() {
            let rows = (batch.num_rows() - at).min(self.form.group_rows - self.rows);
            self.waiting.push(batch.slice(at, rows));
            self.rows += rows;
            self.bytes += batch.get_array_memory_size() / batch.num_rows() * rows;
            at += rows;
            if self.rows >= self.form.group_rows || self.bytes >= layout::GROUP_BYTES {
                self.group()?;
            }
        }
        Ok(())
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        let batches = std::mem::take(&mut self.waiting);
        (self.rows, self.bytes) = (0, 0);
        let writers = self.factory.create_column_writers(self.groups)?;
        let mut chunks = Vec::with_capacity(writers.len());
        for (place, writer) in writers.into_iter().enumerate() {
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(place)).collect();
            let coded = match self.layout.coded.get(place).copied().flatten() {
                Some(kept) => {
                    let column = self.columns.column(place);
                    coded::encode(&column, &arrays, kept, &mut self.codec)?
                }
                None => None,
            };
            chunks.push(match coded {
                Some(chunk) => Chunk::Coded(chunk),
                None => Chunk::Other(self.other(place, writer, &arrays)?),
            });
        }
        let mut group = self.writer.next_row_group()?;
        for chunk in chunks {
            match chunk {
                Chunk::Coded(chunk) => {
                    group.append_column(&bytes::Bytes::from(chunk.bytes), chunk.close)?;
                }
                Chunk::Other(chunk) => chunk.append_to_row_group(&mut group)?,
            }
        }
        group.close()?;
        self.groups += 1;
        Ok(())
    }

    fn other(
        &self,
        place: usize,
        mut writer: ArrowColumnWriter,
        arrays: &[&ArrayRef],
    ) -> Result<ArrowColumnChunk, ParquetError> {
        for array in arrays {
            for leaf in compute_leaves(self.schema.field(place), array)? {
                writer.write(&leaf)?;
            }
        }
        writer.close()
    }

    fn close(mut self) -> Result<ParquetMetaData, ParquetError> {
        if self.rows > 0 {
            self.group()?;
        }
        self.writer.close()
    }
}

/// Encodes what comes until the other side hangs up.
fn encode(
    path: &Path,
    schema: SchemaRef,
    form: Form,
    batches: &Receiver<RecordBatch>,
) -> Result<ParquetMetaData, ArrowError> {
    let file = File::create_new(path).map_err(|error| unwritable(path, &error))?;
    let first = batches
        .recv()
        .unwrap_or_else(|_| RecordBatch::new_empty(schema));
    let write = || {
        let mut writing = Writing::new(file, &first, form)?;
        writing.add(&first)?;
        for batch in batches {
            writing.add(&batch)?;
        }
        writing.close()
    };
    write().map_err(|error| failed(path, error))
}

/// Writes all rows; `report` is told the rows of each batch, and says whether to go on.
pub fn write(
    path: &Path,
    reader: Box<dyn RecordBatchReader + Send>,
    form: Form,
    report: &mut dyn FnMut(usize) -> bool,
) -> Result<Written, ArrowError> {
    let schema = reader.schema();
    let mut rows = 0_u64;
    let metadata = thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        let encoder = scope.spawn(move || encode(path, schema, form, &receiver));
        let read = || {
            for batch in reader {
                let batch = batch?;
                let count = batch.num_rows();
                if count > 0 && sender.send(batch).is_err() {
                    break;
                }
                rows += count as u64;
                if !report(count) {
                    return Err(fail("interrupted"));
                }
            }
            drop(sender);
            Ok(())
        };
        let read = read();
        let encoded = encoder
            .join()
            .unwrap_or_else(|_| Err(fail("kernel panicked")));
        read.and(encoded)
    })?;
    Ok(Written { rows, metadata })
}
