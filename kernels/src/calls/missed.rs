//! Pass the unmatched words of filters, and the names that exist, to Python after the last call.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;

/// A name or pattern, its module, and whether it names source files.
pub type Word = (String, Option<String>, bool);

/// Maximum number of names for a hint.
const MOST: usize = 10_000;

/// The unmatched words of filters; empty until the end of the calls.
#[pyclass(frozen, from_py_object, module = "dctv._kernels")]
#[derive(Clone, Default)]
pub struct Missed(Arc<OnceLock<(Vec<Word>, Vec<String>)>>);

#[pymethods]
impl Missed {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The unmatched words.
    #[getter]
    fn words(&self) -> Vec<Word> {
        self.0.get().map(|found| found.0.clone()).unwrap_or_default()
    }

    /// The existing functions, at most 10,000, if there are unmatched words.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.get().map(|found| found.1.clone()).unwrap_or_default()
    }
}

impl Missed {
    /// Set the words, and the names if there are words.
    pub fn tell<'a>(&self, words: Vec<Word>, names: impl Iterator<Item = &'a str>) {
        let names = if words.is_empty() { Vec::new() } else { names.take(MOST).map(str::to_owned).collect() };
        // All runs of one query set the same.
        let _ = self.0.set((words, names));
    }
}
