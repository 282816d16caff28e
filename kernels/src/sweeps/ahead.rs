//! `ahead`: open an Arrow stream in a thread of its own, which reads a few batches ahead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token, Working};
use super::failure::{fail, to_python, upstream};
use super::opening::Opening;
use crate::exchange::{OutputStream, Reader};

/// The maximum number of batches that wait for the reader.
const DEPTH: usize = 2;
/// The engine plans queries in these threads too; the stack must fit deeply nested ones.
const STACK: usize = 16 << 20;
/// How often a waiting reader checks for cancellation.
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

/// The body of the thread; it releases everything before it is no longer counted.
fn work(counted: Working, opening: Opening, token: &Token, sender: &SyncSender<Pulled>) {
    let pulled = catch_unwind(AssertUnwindSafe(|| pull(&opening, token, sender)));
    if let Err(error) = pulled.unwrap_or_else(|_| Err(fail("reading ahead panicked"))) {
        // The receiver may be gone.
        let _ = sender.send(Err(upstream(&error)));
    }
    opening.close();
    drop(counted);
}

/// Start a thread that opens and reads.
pub fn start(opening: Opening, token: Token) -> Result<Reader, ArrowError> {
    let schema = opening.schema();
    let (sender, receiver) = sync_channel(DEPTH);
    let (counted, seen) = (token.thread(), token.clone());
    thread::Builder::new()
        .name("dctv ahead".to_owned())
        .stack_size(STACK)
        .spawn(move || work(counted, opening, &seen, &sender))
        .map_err(|error| fail(format!("no thread for reading ahead: {error}")))?;
    Ok(Box::new(Ahead { schema, pulled: Some(receiver), token }))
}

#[pyfunction]
#[pyo3(signature = (source, *, cancel=None))]
pub fn ahead(source: Bound<'_, PyAny>, cancel: Option<PyRef<'_, Cancel>>) -> PyResult<OutputStream> {
    let reader = start(Opening::new(&source)?, Token::new(cancel)).map_err(to_python)?;
    Ok(OutputStream::new(reader))
}
