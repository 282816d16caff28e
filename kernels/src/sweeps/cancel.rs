//! Interrupt kernels that hold a flag, by the error `interrupted`, when another thread sets it; count their threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::failure::fail;

#[derive(Default)]
struct Shared {
    flag: AtomicBool,
    threads: Mutex<usize>,
    fewer: Condvar,
}

/// Stops the kernels that hold it, between two batches, and waits for their threads.
#[pyclass(frozen, module = "dctv._kernels")]
#[derive(Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ask every kernel that holds this to stop.
    fn set(&self) {
        self.shared.flag.store(true, Ordering::Relaxed);
    }

    /// Return whether `set` was called.
    fn is_set(&self) -> bool {
        self.shared.flag.load(Ordering::Relaxed)
    }

    /// Wait until no thread reads ahead for these kernels, at most some milliseconds; return whether none does.
    fn wait(&self, py: Python<'_>, milliseconds: u64) -> bool {
        py.detach(|| {
            let threads = self.shared.threads.lock().unwrap_or_else(PoisonError::into_inner);
            let patience = Duration::from_millis(milliseconds);
            let waited = self.shared.fewer.wait_timeout_while(threads, patience, |count| *count > 0);
            *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
        })
    }
}

/// The kernels' side of a `Cancel`; without one it never fires.
#[derive(Clone, Default)]
pub struct Token(Option<Arc<Shared>>);

impl Token {
    pub fn new(cancel: Option<PyRef<'_, Cancel>>) -> Self {
        Self(cancel.map(|cancel| cancel.shared.clone()))
    }

    pub fn check(&self) -> Result<(), ArrowError> {
        match &self.0 {
            Some(shared) if shared.flag.load(Ordering::Relaxed) => Err(fail("interrupted")),
            _ => Ok(()),
        }
    }

    /// Count a thread for as long as the result lives.
    pub fn thread(&self) -> Working {
        if let Some(shared) = &self.0 {
            *shared.threads.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        }
        Working(self.0.clone())
    }
}

/// A thread that is counted.
pub struct Working(Option<Arc<Shared>>);

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            *shared.threads.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            shared.fewer.notify_all();
        }
    }
}
