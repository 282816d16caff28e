//! Compiled kernels of dctv: decoders turn bytes into Arrow batches, sweeps turn sorted Arrow streams into Arrow streams.

use pyo3::prelude::*;

mod access;
mod chrome;
mod columns;
mod ctf;
mod export;
mod ftrace;
mod json;
mod pass;
mod perf;
mod pfw;
mod rows;
mod spool;
mod statistics;
mod sweeps;
mod trees;
mod uftrace;
mod tracepoints;

#[pymodule]
fn _kernels(m: &Bound<'_, PyModule>) -> PyResult<()> {
    access::register(m)?;
    export::register(m)?;
    chrome::register(m)?;
    sweeps::register(m)?;
    ctf::register(m)?;
    ftrace::register(m)?;
    pfw::register(m)?;
    perf::register(m)?;
    rows::register(m)?;
    spool::register(m)?;
    statistics::register(m)?;
    trees::register(m)?;
    uftrace::register(m)
}
