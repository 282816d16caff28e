//! `ahead`: an Arrow stream -> the same stream, opened and read by a thread of its own that stays a little in front.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python, upstream};
use super::opening::Opening;

/// Batches that wait for the reader at most.
const DEPTH: usize = 2;
/// How often a reader that waits looks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

type Pulled = Result<RecordBatch, ArrowError>;

struct Ahead {
    schema: SchemaRef,
    pulled: Option<Receiver<Pulled>>,
    token: Token,
}

impl Iterator for Ahead {
    type Item = Pulled;

    fn next(&mut self) -> Option<Pulled> {
        let item = loop {
            match self.pulled.as_ref()?.recv_timeout(LOOK) {
                Ok(item) => break Some(item),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = self.token.check() {
                        break Some(Err(error));
                    }
                }
            }
        };
        if !matches!(item, Some(Ok(_))) {
            self.pulled = None;
        }
        item
    }
}

impl RecordBatchReader for Ahead {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn pull(opening: &Opening, token: &Token, sender: &SyncSender<Pulled>) -> Result<(), ArrowError> {
    token.check()?;
    for batch in opening.open()? {
        token.check()?;
        if sender.send(Ok(batch?)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Starts at once: a stream is opened to be read.
#[pyfunction]
#[pyo3(signature = (source, *, cancel=None))]
pub fn ahead(
    source: Bound<'_, PyAny>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<PyRecordBatchReader> {
    let opening = Opening::new(&source)?;
    let schema = opening.schema();
    let token = Token::new(cancel);
    let (sender, receiver) = sync_channel(DEPTH);
    let (working, seen) = (token.thread(), token.clone());
    let work = move || {
        let _counted = working;
        let pulled = catch_unwind(AssertUnwindSafe(|| pull(&opening, &seen, &sender)));
        if let Err(error) = pulled.unwrap_or_else(|_| Err(fail("reading ahead panicked"))) {
            // Nobody may be there to hear of it.
            let _ = sender.send(Err(upstream(&error)));
        }
    };
    thread::Builder::new()
        .name("dctv ahead".to_owned())
        .spawn(work)
        .map_err(|error| to_python(fail(format!("no thread for reading ahead: {error}"))))?;
    Ok(PyRecordBatchReader::new(Box::new(Ahead {
        schema,
        pulled: Some(receiver),
        token,
    })))
}
