//! DFTracer's JSON lines: chunks of files, plain or gzip, into one Arrow table per event name.

mod chunk;
mod decode;
mod finish;
mod gathered;
mod growing;
mod hash_texts;
mod hashes;
mod ledger;
mod metadata;
pub mod names;
mod pass;
mod record;
mod report;
mod tables;
pub mod trace_metadata;

use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    pass::register(m)?;
    m.add_class::<finish::PfwColumn>()?;
    m.add_class::<finish::PfwFinisher>()
}
