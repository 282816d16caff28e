//! Put rows in time order on lanes without overlaps: the first free one of each track.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int32Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::exchange::{PyArray, array, array_to_python};
use crate::forest::{Forest, Growing, Monoid};

/// Maximum distance of a requested lane from the last lane of a track; this bounds the damage of a wrong depth.
const FURTHER: usize = 1024;
/// Lanes that are free from the beginning of time.
const FREE: u64 = 0;

/// The monoid of minima.
struct Least;

impl Monoid for Least {
    fn width(&self) -> usize {
        1
    }

    fn identity(&self, value: &mut [u64]) {
        value.fill(u64::MAX);
    }

    fn append(&self, value: &mut [u64], right: &[u64]) {
        value[0] = value[0].min(right[0]);
    }
}

/// A time as an unsigned number in the same order.
fn ordered(time: i64) -> u64 {
    time.cast_unsigned() ^ (1 << 63)
}

/// The lanes of a track.
struct Track {
    /// The end of the last row of each lane.
    ends: Forest<Least, Growing>,
    /// The number of each lane among the lanes of all tracks.
    numbers: Vec<i32>,
}

/// Assigns lanes to rows; see `dctv/_kernels.pyi`.
#[pyclass(module = "dctv._kernels")]
#[derive(Default)]
pub struct Packing {
    tracks: Vec<Option<Track>>,
    /// The track of each lane, and its number within that.
    lanes: Vec<(i32, i32)>,
}

impl Packing {
    fn lane(&mut self, number: i32, depth: Option<i64>, begin: i64, end: i64) -> PyResult<i32> {
        let index = usize::try_from(number).map_err(|_| invalid("a track below 0"))?;
        while self.tracks.len() <= index {
            self.tracks.push(None);
        }
        let track =
            self.tracks[index].get_or_insert_with(|| Track { ends: Forest::sized(Least, 8), numbers: Vec::new() });
        let there = track.numbers.len();
        let wanted = usize::try_from(depth.unwrap_or(0)).unwrap_or(0);
        let wanted = wanted.min(there + FURTHER);
        let from = wanted.min(there);
        let free = |least: &[u64]| least[0] <= ordered(begin);
        // Nested rows mostly find the lane of their depth free.
        let at_once = from < there && free(track.ends.words(2 * from));
        let found = if at_once { Some(from) } else { track.ends.search(from, there, free) };
        let lane = found.unwrap_or(wanted.max(there));
        for _ in there..=lane {
            let code = i32::try_from(self.lanes.len()).map_err(|_| invalid("too many lanes"))?;
            self.lanes.push((number, track.numbers.len() as i32));
            track.numbers.push(code);
            track.ends.extend(&[FREE]);
        }
        track.ends.update(lane, &[ordered(end)]);
        Ok(track.numbers[lane])
    }
}

fn invalid(text: &str) -> PyErr {
    PyValueError::new_err(text.to_owned())
}

#[pymethods]
impl Packing {
    #[new]
    fn new() -> Packing {
        Packing::default()
    }

    fn push(&mut self, tracks: PyArray, depths: PyArray, begins: PyArray, durations: PyArray) -> PyResult<PyArray> {
        let arrays = [tracks, depths, begins, durations].map(array);
        let [tracks, depths, begins, durations] = &arrays;
        let wrong = || invalid("expected tracks of int32; depths, begins and durations of int64");
        let tracks = tracks.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?;
        let depths = depths.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
        let begins = begins.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
        let durations = durations.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
        let rows = tracks.len();
        if [depths.len(), begins.len(), durations.len()] != [rows; 3] {
            return Err(invalid("the columns are not of one length"));
        }
        if tracks.null_count() + begins.null_count() + durations.null_count() > 0 {
            return Err(invalid("only depths may be NULL"));
        }
        let mut lanes = Vec::with_capacity(rows);
        for row in 0..rows {
            let (begin, length) = (begins.value(row), durations.value(row));
            let end = begin.checked_add(length).filter(|_| length >= 0);
            let end = end.ok_or_else(|| invalid("a row ends before it begins, or after all time"))?;
            let depth = depths.is_valid(row).then(|| depths.value(row));
            lanes.push(self.lane(tracks.value(row), depth, begin, end)?);
        }
        Ok(array_to_python(&Int32Array::from(lanes)))
    }

    /// Return the track of each lane, and the lane's number within it.
    fn lanes(&self) -> (PyArray, PyArray) {
        let column = |of: fn(&(i32, i32)) -> i32| {
            let numbers = Int32Array::from_iter_values(self.lanes.iter().map(of));
            array_to_python(&numbers)
        };
        (column(|lane| lane.0), column(|lane| lane.1))
    }
}
