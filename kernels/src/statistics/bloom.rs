//! Bloom filters of texts: three little-endian words (hashes, entries, bits), then the bits, lowest of each byte first.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::input::bytes::Bytes;

const HEADER: usize = 12;
/// A filter of 2^30 bits is not useful, and a corrupt header may claim one.
const MOST_BITS: f64 = (1u64 << 30) as f64;

/// FNV-1a with 64 bits.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A set of texts with false positives.
#[pyclass(skip_from_py_object, module = "dctv._kernels")]
#[derive(Clone)]
pub struct Bloom {
    hashes: u32,
    entries: u32,
    bits: u32,
    data: Vec<u8>,
}

impl Bloom {
    /// An empty filter for a number of texts and a false positive rate.
    pub fn sized(entries: u64, false_positive_rate: f64) -> Result<Bloom, &'static str> {
        if !(false_positive_rate > 0.0 && false_positive_rate < 1.0) {
            return Err("the false positive rate must be above 0 and below 1");
        }
        let ln2 = std::f64::consts::LN_2;
        let n = entries as f64;
        let bits = (-n * false_positive_rate.ln() / (ln2 * ln2)).ceil().max(64.0);
        if bits > MOST_BITS {
            return Err("the filter would have more than 2^30 bits");
        }
        let hashes = if entries == 0 { 1.0 } else { (bits / n * ln2).round().max(1.0) };
        Ok(Bloom { hashes: hashes as u32, entries: 0, bits: bits as u32, data: vec![0; (bits as usize).div_ceil(8)] })
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mut step = hash.wrapping_mul(0x517c_c1b7_2722_0a95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        step ^= step >> 33;
        step = step.wrapping_mul(0xff51_afd7_ed55_8ccd);
        step ^= step >> 33;
        let bits = u64::from(self.bits);
        (0..u64::from(self.hashes)).map(move |i| (hash.wrapping_add(i.wrapping_mul(step)) % bits) as usize)
    }

    /// Add the text with this FNV-1a hash.
    pub fn add_hash(&mut self, hash: u64) {
        for place in self.places(hash) {
            self.data[place / 8] |= 1 << (place % 8);
        }
        self.entries = self.entries.saturating_add(1);
    }

    pub fn entries(&self) -> u32 {
        self.entries
    }

    pub fn blob(&self) -> Vec<u8> {
        let mut blob = Vec::with_capacity(HEADER + self.data.len());
        for word in [self.hashes, self.entries, self.bits] {
            blob.extend(word.to_le_bytes());
        }
        blob.extend(&self.data);
        blob
    }

    fn parse(blob: &[u8]) -> Result<Bloom, &'static str> {
        let mut at = Bytes::new(blob, false);
        let (Some(hashes), Some(entries), Some(bits)) = (at.u32(), at.u32(), at.u32()) else {
            return Err("a Bloom filter has at least 12 bytes");
        };
        let data = at.rest();
        if bits == 0 || f64::from(bits) > MOST_BITS || data.len() != (bits as usize).div_ceil(8) {
            return Err("the Bloom filter's size is not what its header says");
        }
        // More hashes than the smallest rate needs would only slow a reader down.
        if hashes == 0 || hashes > 2048 {
            return Err("the Bloom filter's number of hashes is impossible");
        }
        if !bits.is_multiple_of(8) && data.last().is_some_and(|last| last >> (bits % 8) != 0) {
            return Err("the Bloom filter has bits beyond its end");
        }
        Ok(Bloom { hashes, entries, bits, data: data.to_vec() })
    }
}

#[pymethods]
impl Bloom {
    #[new]
    #[pyo3(signature = (expected_entries=1024, false_positive_rate=0.01))]
    fn new(expected_entries: u64, false_positive_rate: f64) -> PyResult<Bloom> {
        Bloom::sized(expected_entries, false_positive_rate).map_err(PyValueError::new_err)
    }

    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, blob: &[u8]) -> PyResult<Bloom> {
        Bloom::parse(blob).map_err(PyValueError::new_err)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.blob())
    }

    fn add(&mut self, text: &str) {
        self.add_hash(fnv1a(text.as_bytes()));
    }

    fn may_contain(&self, text: &str) -> bool {
        self.places(fnv1a(text.as_bytes())).all(|place| self.data[place / 8] & (1 << (place % 8)) != 0)
    }

    fn merge(&mut self, other: &Bound<'_, Bloom>) -> PyResult<()> {
        // A filter merged with itself does not change, except for its count; it cannot be borrowed twice.
        let other = match other.try_borrow() {
            Ok(other) => other,
            Err(_) => {
                self.entries = self.entries.saturating_mul(2);
                return Ok(());
            }
        };
        if (self.hashes, self.bits) != (other.hashes, other.bits) {
            return Err(PyValueError::new_err(format!(
                "a Bloom filter of {} bits and {} hashes takes none of {} bits and {} hashes",
                self.bits, self.hashes, other.bits, other.hashes
            )));
        }
        for (mine, theirs) in self.data.iter_mut().zip(&other.data) {
            *mine |= theirs;
        }
        self.entries = self.entries.saturating_add(other.entries);
        Ok(())
    }

    #[getter]
    fn num_entries(&self) -> u32 {
        self.entries
    }

    #[getter]
    fn num_bits(&self) -> u32 {
        self.bits
    }

    #[getter]
    fn num_hashes(&self) -> u32 {
        self.hashes
    }
}
