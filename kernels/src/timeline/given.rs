//! Build the index of each lane from columns of rows, given lane after lane.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use super::lane::{Lane, Worth, form, write};
use super::times::{Fault, Times};
use super::worth::{Slices, States, Values};
use crate::exchange::{PyArray, array};
use crate::forest::Sink;

/// With more states, nodes would be so wide that their sums would not fit beside the columns.
const MOST_STATES: usize = 64;

/// The kind of rows, and their values besides times.
pub enum Kind {
    Slices,
    States(ScalarBuffer<i32>, usize),
    Values(ScalarBuffer<f64>),
}

/// The rows of all lanes, and the offsets of the lanes.
pub struct Given {
    begin: ScalarBuffer<i64>,
    length: ScalarBuffer<i64>,
    pub kind: Kind,
    /// The first row of each lane, and the number of all rows.
    pub offsets: Vec<usize>,
}

fn invalid(text: String) -> PyErr {
    PyValueError::new_err(text)
}

fn primitive<T: ArrowPrimitiveType>(column: PyArray, name: &str) -> PyResult<PrimitiveArray<T>> {
    let column = array(column);
    let found = column.as_primitive_opt::<T>().cloned();
    found.ok_or_else(|| {
        let (want, have) = (T::DATA_TYPE, column.data_type());
        invalid(format!("expected {want} as {name}, found {have}"))
    })
}

fn whole<T: ArrowPrimitiveType>(column: PyArray, name: &str) -> PyResult<ScalarBuffer<T::Native>> {
    let column = primitive::<T>(column, name)?;
    if column.null_count() > 0 {
        return Err(invalid(format!("there are NULLs in {name}")));
    }
    Ok(column.values().clone())
}

/// Values of a counter: NULL is NaN.
fn values(column: PyArray) -> PyResult<ScalarBuffer<f64>> {
    let column = primitive::<Float64Type>(column, "values")?;
    if column.null_count() == 0 {
        return Ok(column.values().clone());
    }
    let known = column.iter().map(|value| value.unwrap_or(f64::NAN));
    Ok(known.collect())
}

fn states(column: PyArray, count: usize) -> PyResult<ScalarBuffer<i32>> {
    if !(1..=MOST_STATES).contains(&count) {
        return Err(invalid(format!("found {count} states, expected 1 to {MOST_STATES}")));
    }
    let states = whole::<Int32Type>(column, "states")?;
    let known = |state: &i32| usize::try_from(*state).is_ok_and(|state| state < count);
    if let Some(row) = states.iter().position(|state| !known(state)) {
        let state = states[row];
        return Err(invalid(format!("row {row} has the state {state}, of {count}")));
    }
    Ok(states)
}

fn same(rows: usize, found: usize, name: &str) -> PyResult<()> {
    if found == rows {
        return Ok(());
    }
    Err(invalid(format!("expected {rows} {name}, found {found}")))
}

fn offsets(rows: usize, lanes: Option<PyArray>) -> PyResult<Vec<usize>> {
    let Some(lanes) = lanes else {
        return Ok(vec![0, rows]);
    };
    let wrong = || invalid(format!("the lanes do not have {rows} rows together"));
    let mut offsets = vec![0_usize];
    for count in &*whole::<Int64Type>(lanes, "numbers of rows")? {
        let count = usize::try_from(*count).ok();
        let next = count.and_then(|count| offsets[offsets.len() - 1].checked_add(count));
        offsets.push(next.filter(|next| *next <= rows).ok_or_else(wrong)?);
    }
    if offsets.last() != Some(&rows) {
        return Err(wrong());
    }
    Ok(offsets)
}

fn fault_error(row: usize, fault: &Fault) -> PyErr {
    let what = match fault {
        Fault::Negative => "lasts for less than 0",
        Fault::Endless => "ends after the last time that there is",
        Fault::Overlap => "begins before the one before it on its lane ends",
    };
    invalid(format!("row {row} {what}"))
}

/// Columns from Python: begins, durations, rows of each lane, states and their number, values.
pub type Columns = (PyArray, PyArray, Option<PyArray>, Option<(PyArray, usize)>, Option<PyArray>);

impl Given {
    pub fn new((begin, duration, lanes, of, numbers): Columns) -> PyResult<Given> {
        let begin = whole::<Int64Type>(begin, "begins")?;
        let length = whole::<Int64Type>(duration, "durations")?;
        let rows = begin.len();
        same(rows, length.len(), "durations")?;
        let kind = match (of, numbers) {
            (Some(_), Some(_)) => {
                return Err(invalid("lanes have states or values, not both".to_owned()));
            }
            (Some((column, count)), None) => {
                let states = states(column, count)?;
                same(rows, states.len(), "states")?;
                Kind::States(states, count)
            }
            (None, Some(column)) => {
                let values = values(column)?;
                same(rows, values.len(), "values")?;
                Kind::Values(values)
            }
            (None, None) => Kind::Slices,
        };
        Ok(Given { begin, length, kind, offsets: offsets(rows, lanes)? })
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.offsets.windows(2).map(|ends| ends[0]..ends[1])
    }

    fn times(&self, rows: Range<usize>, worth: &impl Worth) -> Times {
        let (first, count) = (rows.start, rows.len());
        let (begin, length) = (self.begin.slice(first, count), self.length.slice(first, count));
        Times::new(begin, length, worth.block())
    }

    /// Write the index of all lanes to a sink.
    pub fn write(&self, sink: &mut impl Sink) -> PyResult<()> {
        match &self.kind {
            Kind::Slices => self.write_of(|_| Slices, sink),
            Kind::States(states, count) => self.write_of(|rows| States::of(states, *count, rows), sink),
            Kind::Values(values) => self.write_of(|rows| Values::of(values, rows), sink),
        }
    }

    fn write_of<W: Worth>(&self, worth: impl Fn(Range<usize>) -> W, sink: &mut impl Sink) -> PyResult<()> {
        let mut at = 0;
        for rows in self.ranges() {
            let worth = worth(rows.clone());
            let times = self.times(rows.clone(), &worth);
            let checked = times.check();
            checked.map_err(|(row, fault)| fault_error(rows.start + row, &fault))?;
            let form = form(&worth, rows.len());
            at = form.begin(at);
            let written = write(&times, &worth, at, sink);
            written.map_err(|error| PyOSError::new_err((error.raw_os_error(), error.to_string())))?;
            at += form.words();
        }
        Ok(())
    }

    /// Return the lanes; their indexes follow each other in whole words.
    pub fn lanes<W: Worth>(&self, worth: impl Fn(Range<usize>) -> W, index: &Buffer) -> PyResult<Vec<Lane<W>>> {
        let mut at = 0;
        let lanes = self.ranges().map(|rows| {
            let worth = worth(rows.clone());
            let form = form(&worth, rows.len());
            let (begin, words) = (form.begin(at), form.words());
            at = begin + words;
            let of = |words: usize| words * size_of::<u64>();
            let whole = of(at) <= index.len();
            let own = whole.then(|| index.slice_with_length(of(begin), of(words)));
            Some(Lane::new(self.times(rows, &worth), worth, &own?))
        });
        let lanes: Option<Vec<Lane<W>>> = lanes.collect();
        let lanes = lanes.filter(|_| at * size_of::<u64>() == index.len());
        lanes.ok_or_else(|| invalid("the index is not one of these rows".to_owned()))
    }
}
