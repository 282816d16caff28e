//! A history that many threads query while one builds it, and streamed answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;

use super::fault::Fault;
use super::history::History;
use super::mipmap::Mipmap;
use super::rows::{Rows, schema};
use super::walk::Walk;

/// Rows of a batch of a streamed answer.
const ROWS: usize = 16_384;

pub struct Built {
    pub history: History,
    pub mipmaps: BTreeMap<usize, Mipmap>,
}

/// A history, and a condition to wait for its end.
pub struct Shared {
    built: RwLock<Built>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Shared {
    pub fn new(history: History) -> Shared {
        let ended = !history.is_open();
        let mipmaps = BTreeMap::new();
        Shared { built: RwLock::new(Built { history, mipmaps }), ended: Mutex::new(ended), end: Condvar::new() }
    }

    /// Query the history; Python's lock is released first, since a holder of the history's lock may wait for it.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask<T: Send>(&self, py: Python<'_>, ask: impl FnOnce(&History) -> Result<T, Fault> + Send) -> PyResult<T> {
        let result = py.detach(|| {
            let built = self.built.read().unwrap_or_else(PoisonError::into_inner);
            ask(&built.history)
        });
        Ok(result?)
    }

    /// Change the history, likewise.
    ///
    /// # Errors
    /// The change does not fit.
    pub fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Built) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            let mut built = self.built.write().unwrap_or_else(PoisonError::into_inner);
            change(&mut built)
        });
        Ok(result?)
    }

    /// Wake up threads that wait for the end.
    pub fn notify_end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.notify_all();
    }

    /// Wait for the end, up to a limit; return whether it was reached.
    pub fn wait(&self, limit: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.end.wait_timeout_while(ended, limit, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A streamed answer, as spans of a schema if there is one.
pub struct Answer {
    pub shared: Arc<Shared>,
    pub walk: Walk,
    pub spans: Option<SchemaRef>,
}

impl Iterator for Answer {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let built = self.shared.built.read();
        let history = &built.unwrap_or_else(PoisonError::into_inner).history;
        let mut rows = Rows::with_capacity(ROWS);
        if let Err(fault) = self.walk.fill(history, &mut rows, ROWS) {
            return Some(Err(ArrowError::ExternalError(Box::new(fault))));
        }
        (rows.len() > 0).then(|| match &self.spans {
            None => rows.batch(),
            Some(schema) => rows.spans(&history.tree, schema.clone()),
        })
    }
}

impl RecordBatchReader for Answer {
    fn schema(&self) -> SchemaRef {
        self.spans.clone().unwrap_or_else(schema)
    }
}
