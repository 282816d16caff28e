//! Sketches of distributions: counts of values by bin, which give quantiles to within 1 %.
//!
//! A sketch's blob is the byte 1, the number of nonempty bins and, if there are any, the smallest and the largest
//! value, then for each bin, ascending, the number of empty bins since the previous one, and its count. All numbers are
//! varints: seven bits a byte, lowest first, the high bit set on all bytes but the last.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::bins::BINS;
use super::varint::{Varints, put};

const VERSION: u8 = 1;
/// Bins of a log2 histogram: one for 0 and one for each number of bits.
const OCTAVES: usize = 65;

/// A sketch of integers from 0 to 2^64 - 1.
#[pyclass(skip_from_py_object, module = "dctv._kernels")]
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Nonempty bins and their counts, ascending.
    bins: Vec<(u16, u64)>,
    count: u64,
    min: u64,
    max: u64,
}

impl Sketch {
    /// A sketch from counts of bins, with the smallest and the largest value.
    ///
    /// The counts are zeroed.
    pub fn take(counts: &mut [u64], min: u64, max: u64) -> Sketch {
        let mut bins = Vec::new();
        let mut count = 0;
        let (first, last) = (BINS.of(min), BINS.of(max));
        for (bin, number) in counts.iter_mut().enumerate().take(last + 1).skip(first) {
            let number = std::mem::take(number);
            if number > 0 {
                bins.push((bin as u16, number));
                count += number;
            }
        }
        Sketch { bins, count, min, max }
    }

    /// Add to the counts of bins.
    pub fn count_into(&self, counts: &mut [u64]) {
        for (bin, number) in &self.bins {
            counts[usize::from(*bin)] += number;
        }
    }

    /// Add the values of another sketch, unless there would be more than 2^64.
    pub fn absorb(&mut self, other: &Sketch) -> Result<(), &'static str> {
        if other.count == 0 {
            return Ok(());
        }
        let count = self.count.checked_add(other.count).ok_or("a sketch holds fewer than 2^64 values")?;
        if self.count == 0 {
            self.clone_from(other);
            return Ok(());
        }
        let mut bins = Vec::with_capacity(self.bins.len().max(other.bins.len()));
        let (mut mine, mut theirs) = (self.bins.iter().peekable(), other.bins.iter().peekable());
        while let Some(bin) = match (mine.peek(), theirs.peek()) {
            (Some(a), Some(b)) => Some(a.0.min(b.0)),
            (Some(a), None) => Some(a.0),
            (None, Some(b)) => Some(b.0),
            (None, None) => None,
        } {
            let mut number = |(_, n): &(u16, u64)| *n;
            let sum = mine.next_if(|a| a.0 == bin).map_or(0, &mut number)
                + theirs.next_if(|b| b.0 == bin).map_or(0, &mut number);
            bins.push((bin, sum));
        }
        self.bins = bins;
        self.count = count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        Ok(())
    }

    /// The number of values.
    pub fn number(&self) -> u64 {
        self.count
    }

    /// The smallest value; 0 if empty.
    pub fn least(&self) -> u64 {
        self.min
    }

    /// The largest value; 0 if empty.
    pub fn most(&self) -> u64 {
        self.max
    }

    /// The number of values by number of bits.
    pub fn octaves(&self) -> [u64; OCTAVES] {
        let mut octaves = [0; OCTAVES];
        for (bin, number) in &self.bins {
            octaves[BINS.bits(usize::from(*bin))] += number;
        }
        octaves
    }

    pub fn blob(&self) -> Vec<u8> {
        let mut blob = vec![VERSION];
        put(&mut blob, self.bins.len() as u64);
        if self.bins.is_empty() {
            return blob;
        }
        put(&mut blob, self.min);
        put(&mut blob, self.max);
        let mut next = 0;
        for (bin, number) in &self.bins {
            put(&mut blob, u64::from(bin - next));
            put(&mut blob, *number);
            next = bin + 1;
        }
        blob
    }

    fn parse(blob: &[u8]) -> Option<Sketch> {
        let (version, rest) = blob.split_first()?;
        if *version != VERSION {
            return None;
        }
        let mut rest = Varints(rest);
        let number = rest.next()?;
        if number == 0 {
            return rest.0.is_empty().then(Sketch::default);
        }
        let (min, max) = (rest.next()?, rest.next()?);
        let (mut bins, mut count, mut next) = (Vec::new(), 0u64, 0u64);
        for _ in 0..number {
            let bin = next.checked_add(rest.next()?)?;
            let within = rest.next()?;
            if bin >= BINS.count() as u64 || within == 0 {
                return None;
            }
            count = count.checked_add(within)?;
            bins.push((bin as u16, within));
            next = bin + 1;
        }
        let first = usize::from(bins.first()?.0);
        let last = usize::from(bins.last()?.0);
        let ends = BINS.of(min) == first && BINS.of(max) == last && min <= max;
        (ends && rest.0.is_empty()).then_some(Sketch { bins, count, min, max })
    }
}

#[pymethods]
impl Sketch {
    #[new]
    fn new() -> Sketch {
        Sketch::default()
    }

    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, blob: &[u8]) -> PyResult<Sketch> {
        Sketch::parse(blob).ok_or_else(|| PyValueError::new_err("this is no sketch"))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.blob())
    }

    #[pyo3(signature = (value, count=1))]
    fn add(&mut self, value: u64, count: u64) -> PyResult<()> {
        let bins = match count {
            0 => Vec::new(),
            _ => vec![(BINS.of(value) as u16, count)],
        };
        let single = Sketch { bins, count, min: value, max: value };
        self.absorb(&single).map_err(PyValueError::new_err)
    }

    fn merge(&mut self, other: &Bound<'_, Sketch>) -> PyResult<()> {
        // A sketch being merged with itself is already borrowed.
        let other = match other.try_borrow() {
            Ok(other) => other.clone(),
            Err(_) => self.clone(),
        };
        self.absorb(&other).map_err(PyValueError::new_err)
    }

    /// Return the smallest value with at least this share of the values at or below it, to within 1 %; the ends are
    /// exact.
    fn quantile(&self, q: f64) -> PyResult<Option<f64>> {
        if !(0.0..=1.0).contains(&q) {
            return Err(PyValueError::new_err("a quantile is between 0 and 1"));
        }
        if self.count == 0 {
            return Ok(None);
        }
        let n = self.count as f64;
        let rank = self.count.saturating_sub((n - n * q).floor() as u64).max(1);
        if rank == 1 {
            return Ok(Some(self.min as f64));
        }
        if rank >= self.count {
            return Ok(Some(self.max as f64));
        }
        let mut below = 0;
        for (bin, number) in &self.bins {
            below += number;
            if below >= rank {
                let middle = BINS.middle(usize::from(*bin));
                return Ok(Some(middle.clamp(self.min as f64, self.max as f64)));
            }
        }
        Ok(Some(self.max as f64))
    }

    fn histogram(&self) -> Vec<u64> {
        self.octaves().to_vec()
    }

    #[getter]
    fn count(&self) -> u64 {
        self.count
    }

    #[getter]
    fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    #[getter]
    fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
}
