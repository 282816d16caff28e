//! A pass as a Python iterator: results computed ahead by threads, and their progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use super::Ahead;

/// Bytes of files read, their total, and the listener.
pub struct Progress {
    done: Arc<AtomicU64>,
    total: u64,
    call: Option<Py<PyAny>>,
}

impl Progress {
    pub fn new(done: Arc<AtomicU64>, total: u64, call: Option<Py<PyAny>>) -> Progress {
        Progress { done, total, call }
    }

    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        if let Some(call) = &self.call {
            call.call1(py, (self.done.load(Ordering::Relaxed).min(self.total), self.total))?;
        }
        Ok(())
    }
}

/// Results computed ahead; its threads end with the last one, or with an error.
pub struct Running<T> {
    ahead: Option<Ahead<T>>,
    progress: Progress,
}

impl<T: Send + 'static> Running<T> {
    pub fn new(ahead: Ahead<T>, progress: Progress) -> Running<T> {
        Running { ahead: Some(ahead), progress }
    }

    /// The first object made of the next results; None at the end.
    pub fn next<C>(&mut self, py: Python<'_>, make: impl FnMut(T) -> PyResult<Option<C>>) -> PyResult<Option<C>> {
        let made = self.advance(py, make);
        if !matches!(made, Ok(Some(_))) {
            let ahead = self.ahead.take();
            py.detach(|| drop(ahead));
        }
        made
    }

    fn advance<C>(&self, py: Python<'_>, mut make: impl FnMut(T) -> PyResult<Option<C>>) -> PyResult<Option<C>> {
        let Some(ahead) = &self.ahead else {
            return Ok(None);
        };
        while let Some(result) = ahead.next(py, |py| self.progress.tell(py))? {
            if let Some(made) = make(result)? {
                return Ok(Some(made));
            }
        }
        self.progress.tell(py)?;
        Ok(None)
    }
}
