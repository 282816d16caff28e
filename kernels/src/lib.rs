//! Compiled kernels of dctv: decoders turn bytes into Arrow batches, sweeps turn sorted Arrow streams into Arrow streams.

use pyo3::prelude::*;

mod access;
mod columns;
mod ftrace;
mod pass;
mod perfetto;
mod pfw;
mod rows;
mod spool;
mod statistics;
mod sweeps;

#[pymodule]
fn _kernels(m: &Bound<'_, PyModule>) -> PyResult<()> {
    access::register(m)?;
    sweeps::register(m)?;
    ftrace::register(m)?;
    perfetto::register(m)?;
    pfw::register(m)?;
    rows::register(m)?;
    spool::register(m)?;
    statistics::register(m)
}
