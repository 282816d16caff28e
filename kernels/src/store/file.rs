//! Write a stream of rows to one Parquet file, read in one thread and encoded in another.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;
use zlib_rs::crc32::crc32;

use super::layout::{self, Form, Layout};
use super::page::Encoder;
use super::{coded, delta, page};
use crate::sweeps::fail;

/// Batches that wait for the encoding thread.
const AHEAD: usize = 1;
/// Bytes per write.
const WRITE: usize = 256 << 10;

pub struct Written {
    pub rows: u64,
    pub metadata: ParquetMetaData,
    /// The CRC-32 of the columns of each row group that this crate encoded.
    pub sums: Vec<Option<u32>>,
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

/// A column's part of a row group, encoded by this crate or by the library.
enum Chunk {
    Own(page::Chunk),
    Other(ArrowColumnChunk),
}

/// The writer factory of a single column: that of a whole file makes writers of all its columns, which are slow to
/// create.
fn alone(field: &Field, properties: WriterPropertiesPtr) -> Result<ArrowRowGroupWriterFactory, ParquetError> {
    let schema = Arc::new(Schema::new(vec![field.clone()]));
    let columns = ArrowSchemaConverter::new().convert(&schema)?;
    let writer = SerializedFileWriter::new(io::sink(), columns.root_schema_ptr(), properties)?;
    Ok(ArrowRowGroupWriterFactory::new(&writer, schema))
}

/// A file that is written a row group at a time.
struct Writing {
    writer: SerializedFileWriter<BufWriter<File>>,
    /// The library's writer factory of each column that the library encodes.
    others: Vec<Option<ArrowRowGroupWriterFactory>>,
    columns: SchemaDescriptor,
    schema: SchemaRef,
    layout: Layout,
    encoder: Encoder,
    form: Form,
    groups: usize,
    sums: Vec<Option<u32>>,
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
        // The library passes data on in pieces of 8 KiB.
        let file = BufWriter::with_capacity(WRITE, file);
        let writer = SerializedFileWriter::new(file, columns.root_schema_ptr(), properties)?;
        Ok(Writing {
            others: schema.fields().iter().map(|_| None).collect(),
            writer,
            columns,
            schema,
            layout,
            encoder: Encoder::new()?,
            form,
            groups: 0,
            sums: Vec::new(),
            waiting: Vec::new(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Take rows; write full row groups.
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
        let mut chunks = Vec::with_capacity(self.columns.num_columns());
        for place in 0..self.columns.num_columns() {
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(place)).collect();
            chunks.push(match self.own(place, &arrays)? {
                Some(chunk) => Chunk::Own(chunk),
                None => Chunk::Other(self.other(place, &arrays)?),
            });
        }
        let mut group = self.writer.next_row_group()?;
        for chunk in chunks {
            match chunk {
                Chunk::Own(chunk) => {
                    self.sums.push(Some(crc32(0, &chunk.bytes)));
                    group.append_column(&bytes::Bytes::from(chunk.bytes), chunk.close)?;
                }
                Chunk::Other(chunk) => {
                    self.sums.push(None);
                    chunk.append_to_row_group(&mut group)?;
                }
            }
        }
        group.close()?;
        self.groups += 1;
        Ok(())
    }

    /// Encode a column in this crate, if it has few values or integers.
    fn own(&mut self, place: usize, arrays: &[&ArrayRef]) -> Result<Option<page::Chunk>, ParquetError> {
        let column = self.columns.column(place);
        if let Some(kept) = self.layout.coded.get(place).copied().flatten() {
            let coded = coded::encode(&column, arrays, kept, &mut self.encoder)?;
            if coded.is_some() {
                return Ok(coded);
            }
        }
        delta::encode(&column, arrays, &mut self.encoder)
    }

    /// Encode a column by the library.
    fn other(&mut self, place: usize, arrays: &[&ArrayRef]) -> Result<ArrowColumnChunk, ParquetError> {
        let field = self.schema.field(place);
        let factory = match &mut self.others[place] {
            Some(factory) => factory,
            none => none.insert(alone(field, self.layout.properties.clone())?),
        };
        let mut writers = factory.create_column_writers(self.groups)?;
        let mut writer = writers.pop().ok_or_else(|| ParquetError::General("a column has no writer".to_owned()))?;
        for array in arrays {
            for leaf in compute_leaves(field, array)? {
                writer.write(&leaf)?;
            }
        }
        writer.close()
    }

    fn close(mut self) -> Result<(ParquetMetaData, Vec<Option<u32>>), ParquetError> {
        if self.rows > 0 {
            self.group()?;
        }
        Ok((self.writer.close()?, self.sums))
    }
}

/// Encode all batches.
fn encode(
    path: &Path,
    schema: SchemaRef,
    form: Form,
    mut batches: impl Iterator<Item = RecordBatch>,
) -> Result<(ParquetMetaData, Vec<Option<u32>>), ArrowError> {
    let file = File::create_new(path).map_err(|error| unwritable(path, &error))?;
    let first = batches.next().unwrap_or_else(|| RecordBatch::new_empty(schema));
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

/// Write all rows; `report` gets the rows of each batch, and returns whether to continue.
pub fn write(
    path: &Path,
    mut reader: Box<dyn RecordBatchReader + Send>,
    form: Form,
    report: &mut dyn FnMut(usize) -> bool,
) -> Result<Written, ArrowError> {
    let schema = reader.schema();
    let mut rows = 0_u64;
    let mut next = || {
        for batch in reader.by_ref() {
            let batch = batch?;
            let count = batch.num_rows();
            rows += count as u64;
            if !report(count) {
                return Err(fail("interrupted"));
            }
            if count > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    };
    let first = next()?;
    let second = match &first {
        Some(_) => next()?,
        None => None,
    };
    let (metadata, sums) = match second {
        None => encode(path, schema, form, first.into_iter())?,
        Some(_) => thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD);
            let begun = first.into_iter().chain(second);
            let encoder = scope.spawn(move || encode(path, schema, form, begun.chain(receiver)));
            let mut read = || {
                while let Some(batch) = next()? {
                    if sender.send(batch).is_err() {
                        break;
                    }
                }
                Ok(())
            };
            let read = read();
            drop(sender);
            let encoded = encoder.join().unwrap_or_else(|_| Err(fail("kernel panicked")));
            read.and(encoded)
        })?,
    };
    Ok(Written { rows, metadata, sums })
}
