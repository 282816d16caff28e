//! State histories: changes of attributes over time, stored as intervals that give the state at any time.

use pyo3::prelude::*;

mod arguments;
mod batch;
mod block;
mod cell;
mod fault;
mod find;
mod history;
mod mipmap;
mod near;
mod partial;
mod python;
mod range;
mod reader;
mod rows;
mod shared;
mod stack;
mod track;
mod tree;
mod walk;
mod writer;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<python::StateHistory>()
}
