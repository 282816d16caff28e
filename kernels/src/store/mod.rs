//! Write streams of rows to the Parquet files of a column store, and return the files' sizes and checksums.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::exchange::InputStream;
use crate::sorter::to_python;

mod bits;
mod coded;
mod delta;
mod file;
mod layout;
mod page;
mod parts;

/// A file that was written.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
struct WrittenFile {
    rows: u64,
    columns: Vec<String>,
    /// The column (-1 for none), bytes and CRC-32 of each part.
    parts: Vec<(i64, u64, u32)>,
    /// CRC-32 of the whole.
    checksum: u32,
}

/// Write a stream to a new Parquet file: row groups of `group_rows`, encoded in a second thread.
///
/// `ascending` means that its first column is ascending; `progress` gets the rows of each batch and raises to stop.
#[pyfunction]
#[pyo3(signature = (path, table, *, ascending, progress=None, group_rows=layout::GROUP_ROWS))]
fn write_table(
    py: Python<'_>,
    path: PathBuf,
    table: InputStream,
    ascending: bool,
    progress: Option<Py<PyAny>>,
    group_rows: usize,
) -> PyResult<WrittenFile> {
    let reader = table.into_reader();
    let names = reader.schema();
    let names = names.fields().iter().map(|field| field.name().clone());
    let columns = names.collect();
    let form = layout::Form { ascending, group_rows: group_rows.max(1) };
    let mut raised = None;
    let mut report = |rows: usize| match &progress {
        None => true,
        Some(progress) => match Python::attach(|py| progress.call1(py, (rows,)).map(drop)) {
            Ok(()) => true,
            Err(error) => {
                raised = Some(error);
                false
            }
        },
    };
    let written = py.detach(|| file::write(&path, reader, form, &mut report));
    if let Some(error) = raised {
        return Err(error);
    }
    let written = written.map_err(to_python)?;
    let (parts, checksum) = py.detach(|| parts::file_parts(&path, &written.metadata, &written.sums))?;
    Ok(WrittenFile { rows: written.rows, columns, parts, checksum })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<WrittenFile>()?;
    m.add_function(wrap_pyfunction!(write_table, m)?)
}
