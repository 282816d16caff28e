//! Where a chunk is: `dctv.contracts.chunks.Checkpoint` on the side of the kernels.

use pyo3::prelude::*;

/// A run of whole lines of one file; the fields are those of the Python class. Becomes a dict in Python.
#[derive(Clone, Default, FromPyObject, IntoPyObject)]
pub struct Checkpoint {
    pub file: usize,
    pub number: u64,
    pub uc_offset: u64,
    pub uc_size: u64,
    pub c_offset: u64,
    pub c_size: u64,
    pub bits: u8,
    pub window: Option<Vec<u8>>,
    pub skip: u64,
    pub first_line: u64,
    pub lines: u64,
    pub packed: bool,
}
