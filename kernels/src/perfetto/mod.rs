//! Decode Perfetto's protobuf traces into rows of typed tables, by given descriptors.

mod annotations;
mod clocks;
mod comms;
mod compact;
mod counting;
mod decoder;
mod early;
mod ftrace;
mod ftrace_generic;
mod ftrace_plan;
mod gauges;
mod generic;
mod info;
mod json;
mod legacy;
mod marks;
mod names;
mod packets;
mod payloads;
mod polled;
mod profiles;
mod schema;
mod sequence;
mod start;
pub mod states;
mod tables;
mod track_event;
mod tracks;
mod unpack;
mod wire;
mod world;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::prelude::*;

use crate::rows::RowPass;

/// Begin a pass over a trace; `descriptors` are serialized protobuf file descriptors, earlier ones take precedence. With
/// `machine`, packets of other machines are left out; the recording machine is 0.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress, *, descriptors, machine=None))]
fn perfetto_pass(
    paths: Vec<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    descriptors: Vec<Vec<u8>>,
    machine: Option<u32>,
) -> PyResult<RowPass> {
    let mut total = 0u64;
    for path in &paths {
        total += std::fs::metadata(path)?.len();
    }
    let done = Arc::new(AtomicU64::new(0));
    let decoder = decoder::Decoder::new(paths, &descriptors, machine, Arc::clone(&done));
    Ok(RowPass::start(decoder, threads, (done, total), progress))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(perfetto_pass, m)?)
}
