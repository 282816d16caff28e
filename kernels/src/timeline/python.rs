//! Lanes as Python holds them.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, Float64Array, PrimitiveArray};
use arrow_buffer::ScalarBuffer;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyRecordBatch};

use super::cells::Window;
use super::columns::{Columns, LEVELS, SLICES, STATES};
use super::lane::{Lane, Worth};
use super::times::{Fault, Times};
use super::worth::{Slices, States, Values};

/// Of more states than this, nodes are so wide that their sums would not fit beside the columns.
const MOST_STATES: usize = 64;

enum Kind {
    Slices(Vec<Lane<Slices>>),
    States(Vec<Lane<States>>),
    Values(Vec<Lane<Values>>),
}

/// Rows on lanes, indexed; see `dctv/_kernels.pyi`.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct Lanes {
    kind: Kind,
    /// The first row of each lane, and the number of all rows.
    offsets: Vec<usize>,
}

fn primitive<T: ArrowPrimitiveType>(column: PyArray, name: &str) -> PyResult<PrimitiveArray<T>> {
    let (column, _) = column.into_inner();
    let found = column.as_primitive_opt::<T>().cloned();
    found.ok_or_else(|| {
        let (want, have) = (T::DATA_TYPE, column.data_type());
        PyValueError::new_err(format!("expected {want} as {name}, found {have}"))
    })
}

fn whole<T: ArrowPrimitiveType>(column: PyArray, name: &str) -> PyResult<ScalarBuffer<T::Native>> {
    let column = primitive::<T>(column, name)?;
    if column.null_count() > 0 {
        return Err(PyValueError::new_err(format!("there are NULLs in {name}")));
    }
    Ok(column.values().clone())
}

/// Values of a counter: NULL is NaN.
fn values(column: PyArray) -> PyResult<ScalarBuffer<f64>> {
    let column: Float64Array = primitive::<Float64Type>(column, "values")?;
    if column.null_count() == 0 {
        return Ok(column.values().clone());
    }
    Ok(column
        .iter()
        .map(|value| value.unwrap_or(f64::NAN))
        .collect())
}

fn told(row: usize, fault: &Fault) -> PyErr {
    let what = match fault {
        Fault::Negative => "lasts for less than 0",
        Fault::Endless => "ends after the last time that there is",
        Fault::Overlap => "begins before the one before it on its lane ends",
    };
    PyValueError::new_err(format!("row {row} {what}"))
}

/// The rows of all lanes, and where each lane has its own.
struct Rows {
    begin: ScalarBuffer<i64>,
    length: ScalarBuffer<i64>,
    offsets: Vec<usize>,
}

impl Rows {
    fn new(begin: PyArray, duration: PyArray, lanes: Option<PyArray>) -> PyResult<Rows> {
        let begin = whole::<Int64Type>(begin, "begins")?;
        let length = whole::<Int64Type>(duration, "durations")?;
        let rows = begin.len();
        same(rows, length.len(), "durations")?;
        let wrong = || PyValueError::new_err(format!("the lanes do not have {rows} rows together"));
        let mut offsets = vec![0_usize];
        if let Some(lanes) = lanes {
            for count in &*whole::<Int64Type>(lanes, "numbers of rows")? {
                let count = usize::try_from(*count).ok();
                let next = count.and_then(|count| offsets[offsets.len() - 1].checked_add(count));
                offsets.push(next.filter(|next| *next <= rows).ok_or_else(wrong)?);
            }
        } else {
            offsets.push(rows);
        }
        if offsets.last() != Some(&rows) {
            return Err(wrong());
        }
        Ok(Rows {
            begin,
            length,
            offsets,
        })
    }

    fn lanes<W: Worth>(
        &self,
        block: usize,
        worth: impl Fn(Range<usize>) -> W,
    ) -> Result<Vec<Lane<W>>, (usize, Fault)> {
        let each = self.offsets.windows(2).map(|ends| {
            let (first, count) = (ends[0], ends[1] - ends[0]);
            let (begin, length) = (
                self.begin.slice(first, count),
                self.length.slice(first, count),
            );
            let times = Times::new(begin, length, block);
            let times = times.map_err(|(row, fault)| (first + row, fault))?;
            Ok(Lane::new(times, worth(first..ends[1])))
        });
        each.collect()
    }
}

fn same(rows: usize, found: usize, name: &str) -> PyResult<()> {
    if found == rows {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "expected {rows} {name}, found {found}"
    )))
}

fn states_of(column: PyArray, count: usize) -> PyResult<ScalarBuffer<i32>> {
    if !(1..=MOST_STATES).contains(&count) {
        let told = format!("found {count} states, expected 1 to {MOST_STATES}");
        return Err(PyValueError::new_err(told));
    }
    let states = whole::<Int32Type>(column, "states")?;
    let known = |state: &i32| usize::try_from(*state).is_ok_and(|state| state < count);
    if let Some(row) = states.iter().position(|state| !known(state)) {
        let told = format!("row {row} has the state {}, of {count}", states[row]);
        return Err(PyValueError::new_err(told));
    }
    Ok(states)
}

#[pymethods]
impl Lanes {
    #[new]
    #[pyo3(signature = (begin, duration, lanes=None, *, states=None, values=None))]
    fn new(
        py: Python<'_>,
        begin: PyArray,
        duration: PyArray,
        lanes: Option<PyArray>,
        states: Option<(PyArray, usize)>,
        values: Option<PyArray>,
    ) -> PyResult<Lanes> {
        let rows = Rows::new(begin, duration, lanes)?;
        let count = rows.begin.len();
        let kind = match (states, values) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err(
                    "lanes have states or values, not both",
                ));
            }
            (Some((states, of)), None) => {
                let states = states_of(states, of)?;
                same(count, states.len(), "states")?;
                let worth = |range: Range<usize>| States {
                    states: states.slice(range.start, range.len()),
                    count: of,
                };
                py.detach(|| rows.lanes(States::block(of), worth).map(Kind::States))
            }
            (None, Some(column)) => {
                let column = self::values(column)?;
                same(count, column.len(), "values")?;
                let worth = |range: Range<usize>| Values(column.slice(range.start, range.len()));
                py.detach(|| rows.lanes(Values::BLOCK, worth).map(Kind::Values))
            }
            (None, None) => py.detach(|| rows.lanes(Slices::BLOCK, |_| Slices).map(Kind::Slices)),
        };
        Ok(Lanes {
            kind: kind.map_err(|(row, fault)| told(row, &fault))?,
            offsets: rows.offsets,
        })
    }

    fn __len__(&self) -> usize {
        self.offsets.len() - 1
    }

    #[getter]
    fn index_bytes(&self) -> usize {
        match &self.kind {
            Kind::Slices(lanes) => lanes.iter().map(Lane::bytes).sum(),
            Kind::States(lanes) => lanes.iter().map(Lane::bytes).sum(),
            Kind::Values(lanes) => lanes.iter().map(Lane::bytes).sum(),
        }
    }

    #[pyo3(signature = (start, stop, step, first=0, end=None))]
    fn cells(
        &self,
        py: Python<'_>,
        start: i64,
        stop: i64,
        step: i64,
        first: usize,
        end: Option<usize>,
    ) -> PyResult<PyRecordBatch> {
        if step <= 0 {
            let told = format!("a step of {step} ns, expected more than 0");
            return Err(PyValueError::new_err(told));
        }
        if stop < start {
            let told = format!("the stop, {stop} ns, comes before the start, {start} ns");
            return Err(PyValueError::new_err(told));
        }
        let end = end.unwrap_or(self.__len__());
        if first > end || end > self.__len__() {
            let told = format!("no lanes {first} to {end}, there are {}", self.__len__());
            return Err(PyIndexError::new_err(told));
        }
        let window = Window {
            from: start,
            to: stop,
            step,
        };
        let batch = py.detach(|| self.columns(window, first..end));
        Ok(PyRecordBatch::new(batch.map_err(PyValueError::new_err)?))
    }
}

impl Lanes {
    fn columns(
        &self,
        window: Window,
        wanted: Range<usize>,
    ) -> Result<arrow_array::RecordBatch, String> {
        match &self.kind {
            Kind::Slices(lanes) => {
                let mut out = Columns::new(&SLICES);
                for number in wanted {
                    let (lane, offset) = (&lanes[number], self.offsets[number]);
                    lane.cells(window, |cell| {
                        let mut sum = [0; Slices::WIDTH];
                        lane.gather(cell.first, cell.behind, &mut sum);
                        out.cell(number, offset, cell, &sum);
                    });
                }
                out.batch()
            }
            Kind::States(lanes) => {
                let mut out = Columns::new(&STATES);
                for number in wanted {
                    let (lane, offset) = (&lanes[number], self.offsets[number]);
                    let mut sum = vec![0; Slices::WIDTH + lane.worth().count];
                    lane.cells(window, |cell| {
                        sum.fill(0);
                        lane.gather(cell.first, cell.behind, &mut sum);
                        let (state, filled) = if cell.behind - cell.first == 1 {
                            (lane.worth().states[cell.first] as usize, sum[2])
                        } else {
                            States::majority(&sum)
                        };
                        out.cell(number, offset, cell, &sum);
                        out.more(&[state as i64, filled.cast_signed()]);
                    });
                }
                out.batch()
            }
            Kind::Values(lanes) => {
                let mut out = Columns::new(&LEVELS);
                for number in wanted {
                    let offset = self.offsets[number];
                    lanes[number].levels(window, |level| out.level(number, offset, &level));
                }
                out.batch()
            }
        }
    }
}
