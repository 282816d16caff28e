//! Build one Bloom filter per dimension of a file from the hashes of the distinct values of its chunks.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashSet;

use super::bloom::Bloom;

/// Number of distinct values of a file from which a dimension gets no filter: it would exceed a megabyte.
const MOST_VALUES: usize = 1 << 20;

/// Collects `value_hashes` of the chunks of one file.
#[pyclass(module = "dctv._kernels")]
pub struct FileBlooms {
    expected: u64,
    rate: f64,
    /// None for a dimension with values that are not all known.
    dimensions: BTreeMap<String, Option<FxHashSet<u64>>>,
}

#[pymethods]
impl FileBlooms {
    #[new]
    #[pyo3(signature = (expected_entries=1024, false_positive_rate=0.01))]
    fn new(expected_entries: u64, false_positive_rate: f64) -> PyResult<FileBlooms> {
        Bloom::sized(expected_entries, false_positive_rate).map_err(PyValueError::new_err)?;
        Ok(FileBlooms { expected: expected_entries, rate: false_positive_rate, dimensions: BTreeMap::new() })
    }

    #[pyo3(signature = (dimension, value_hashes))]
    fn add(&mut self, dimension: String, value_hashes: Option<&[u8]>) -> PyResult<()> {
        let place = self.dimensions.entry(dimension).or_insert_with(|| Some(FxHashSet::default()));
        let (Some(set), Some(bytes)) = (place.as_mut(), value_hashes) else {
            *place = None;
            return Ok(());
        };
        let (hashes, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(PyValueError::new_err("hashes have 8 bytes each"));
        }
        set.extend(hashes.iter().map(|hash| u64::from_le_bytes(*hash)));
        if set.len() > MOST_VALUES {
            *place = None;
        }
        Ok(())
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>, u32)>> {
        let mut rows = Vec::new();
        for (dimension, set) in &self.dimensions {
            let Some(set) = set else { continue };
            let size = self.expected.max(set.len() as u64);
            let mut bloom = Bloom::sized(size, self.rate).map_err(PyValueError::new_err)?;
            set.iter().for_each(|hash| bloom.add_hash(*hash));
            rows.push((dimension.clone(), PyBytes::new(py, &bloom.blob()), bloom.entries()));
        }
        Ok(rows)
    }
}
