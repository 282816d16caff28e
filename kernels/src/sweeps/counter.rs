//! Count in a sweep, and show the number to Python after the sweep has reached the end of its input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

/// The count of a running kernel: 0 until it has reached the end of its input, so that it is deterministic.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct Counter {
    shown: Arc<AtomicU64>,
}

#[pymethods]
impl Counter {
    /// The count.
    #[getter]
    fn value(&self) -> u64 {
        self.shown.load(Ordering::Relaxed)
    }
}

/// The sweep's end of a counter.
#[derive(Default)]
pub struct Tally {
    count: u64,
    shown: Arc<AtomicU64>,
}

impl Tally {
    pub fn counter(&self) -> Counter {
        Counter { shown: self.shown.clone() }
    }

    #[inline]
    pub fn add(&mut self) {
        self.count += 1;
    }

    /// Publishes the count.
    pub fn show(&self) {
        self.shown.store(self.count, Ordering::Relaxed);
    }
}
