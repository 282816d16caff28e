//! A stream of rows -> one Parquet file, read in one thread and encoded in another.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use super::layout::{self, Form};
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
        let properties = layout::properties(&first, form)?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true);
        let mut writer = ArrowWriter::try_new_with_options(file, first.schema(), options)?;
        writer.write(&first)?;
        for batch in batches {
            writer.write(&batch)?;
        }
        writer.close()
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
