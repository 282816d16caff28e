//! Slices, counters and instants of a trace -> the formats of timeline viewers.

mod chrome;
mod perfetto;
mod rows;

use pyo3::prelude::*;

pub use chrome::quoted;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<chrome::ChromeExport>()?;
    m.add_class::<perfetto::PerfettoExport>()
}
