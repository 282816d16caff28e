//! Compiled kernels of dctv: decoders turn bytes into Arrow batches, sweeps turn sorted Arrow streams into Arrow streams.

use pyo3::prelude::*;

mod calls;
mod chrome;
mod columns;
mod ctf;
mod exchange;
mod export;
mod forest;
mod ftrace;
mod ftrace_graph;
mod input;
mod json;
mod lines;
mod pass;
mod perf;
mod perf_text;
mod perfetto;
mod pfw;
mod rows;
mod sorter;
mod state;
mod statistics;
mod store;
mod sweeps;
mod timeline;
mod tracedat;
mod tracepoints;
mod trees;
mod uftrace;

#[pymodule]
fn _kernels(m: &Bound<'_, PyModule>) -> PyResult<()> {
    calls::register(m)?;
    chrome::register(m)?;
    ctf::register(m)?;
    export::register(m)?;
    forest::register(m)?;
    ftrace::register(m)?;
    ftrace_graph::register(m)?;
    input::register(m)?;
    lines::register(m)?;
    perf::register(m)?;
    perf_text::register(m)?;
    perfetto::register(m)?;
    pfw::register(m)?;
    rows::register(m)?;
    sorter::register(m)?;
    state::register(m)?;
    statistics::register(m)?;
    store::register(m)?;
    sweeps::register(m)?;
    timeline::register(m)?;
    tracedat::register(m)?;
    trees::register(m)?;
    uftrace::register(m)?;
    Ok(())
}
