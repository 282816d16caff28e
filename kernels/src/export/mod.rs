//! Export slices, counters, instant events, arrows and kernel events of a trace in the formats of timeline viewers.

mod chrome;
mod frame;
mod kernel;
mod message;
mod perfetto;
mod rows;

use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<chrome::ChromeExport>()?;
    m.add_class::<perfetto::PerfettoExport>()
}
