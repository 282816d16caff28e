//! Kernels over rows with parent ids: ancestors and descendants, self time, stacks and flame graphs.

use pyo3::prelude::*;

mod ancestry;
mod flame;
mod forest;
mod input;
mod nested;
mod paths;
mod reachable;
mod self_time;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(ancestry::ancestry, m)?)?;
    m.add_function(wrap_pyfunction!(flame::flame_slices, m)?)?;
    m.add_function(wrap_pyfunction!(flame::flame_stacks, m)?)?;
    m.add_function(wrap_pyfunction!(paths::stack_paths, m)?)?;
    m.add_function(wrap_pyfunction!(reachable::reachable, m)?)?;
    m.add_function(wrap_pyfunction!(self_time::self_time, m)?)?;
    Ok(())
}
