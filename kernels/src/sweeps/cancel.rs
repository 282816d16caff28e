//! A flag another thread sets -> the error `interrupted` in the kernels that were given it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::failure::fail;

/// Ends the kernels it was given to, between two batches.
#[pyclass(frozen, module = "dctv._kernels")]
#[derive(Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ask every kernel that holds this to stop.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Say whether `set` was called.
    fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// The kernels' side of a `Cancel`; without one it never fires.
#[derive(Clone, Default)]
pub struct Token(Option<Arc<AtomicBool>>);

impl Token {
    pub fn new(cancel: Option<PyRef<'_, Cancel>>) -> Self {
        Self(cancel.map(|cancel| cancel.flag.clone()))
    }

    pub fn check(&self) -> Result<(), ArrowError> {
        match &self.0 {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(fail("interrupted")),
            _ => Ok(()),
        }
    }
}
