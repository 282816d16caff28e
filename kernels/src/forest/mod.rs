//! In-order forests: aggregates over any range of a column, for zooming.

use pyo3::prelude::*;

mod bulk;
mod file;
mod kind;
mod layout;
mod monoid;
mod nodes;
mod python;
mod tree;

pub use bulk::{Sink, build};
pub use monoid::{FloatSum, Monoid, Sum};
pub use nodes::Growing;
pub use tree::{Forest, nodes_of, push_within};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<python::Forest>()
}
