//! Python objects for lanes.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, UInt64Array};
use arrow_buffer::Buffer;
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;

use super::cells::Window;
use super::columns::{Columns, LEVELS, SLICES, STATES};
use super::given::{Given, Kind};
use super::lane::Lane;
use super::worth::{Slices, States, Values};
use crate::exchange::{OutputBatch, PyArray, array, array_to_python};
use crate::forest::Sink;

enum Held {
    Slices(Vec<Lane<Slices>>),
    States(Vec<Lane<States>>),
    Values(Vec<Lane<Values>>),
}

/// Rows on lanes, indexed; see `dctv/_kernels.pyi`.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct Lanes {
    held: Held,
    /// The first row of each lane, and the number of all rows.
    offsets: Vec<usize>,
    index: UInt64Array,
}

/// Words in a file, little-endian.
struct Words {
    file: File,
    /// Number of words before the current position.
    at: usize,
    bytes: Vec<u8>,
}

impl Sink for Words {
    fn put(&mut self, at: usize, words: &[u64]) -> io::Result<()> {
        self.bytes.clear();
        self.bytes.reserve(size_of_val(words));
        for word in words {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        if at != self.at {
            self.file.seek(SeekFrom::Start((at * size_of::<u64>()) as u64))?;
        }
        self.at = at + words.len();
        self.file.write_all(&self.bytes)
    }
}

#[pymethods]
impl Lanes {
    #[new]
    #[pyo3(signature = (begin, duration, lanes=None, *, states=None, values=None, index=None))]
    fn new(
        py: Python<'_>,
        begin: PyArray,
        duration: PyArray,
        lanes: Option<PyArray>,
        states: Option<(PyArray, usize)>,
        values: Option<PyArray>,
        index: Option<PyArray>,
    ) -> PyResult<Lanes> {
        let given = Given::new((begin, duration, lanes, states, values))?;
        let index = match index {
            Some(index) => {
                let index = array(index);
                let index = index.as_primitive_opt::<UInt64Type>().cloned();
                index.ok_or_else(|| PyValueError::new_err("expected UInt64 as an index"))?
            }
            None => py.detach(|| {
                let mut words = Vec::new();
                given.write(&mut words)?;
                Ok::<_, PyErr>(UInt64Array::from(words))
            })?,
        };
        let words: Buffer = index.values().inner().clone();
        let held = match &given.kind {
            Kind::Slices => Held::Slices(given.lanes(|_| Slices, &words)?),
            Kind::States(states, count) => Held::States(given.lanes(|rows| States::of(states, *count, rows), &words)?),
            Kind::Values(values) => Held::Values(given.lanes(|rows| Values::of(values, rows), &words)?),
        };
        Ok(Lanes { held, offsets: given.offsets, index })
    }

    #[staticmethod]
    #[pyo3(signature = (path, begin, duration, lanes=None, *, states=None, values=None))]
    fn write(
        py: Python<'_>,
        path: PathBuf,
        begin: PyArray,
        duration: PyArray,
        lanes: Option<PyArray>,
        states: Option<(PyArray, usize)>,
        values: Option<PyArray>,
    ) -> PyResult<()> {
        let given = Given::new((begin, duration, lanes, states, values))?;
        let os = |error: io::Error| PyOSError::new_err((error.raw_os_error(), error.to_string()));
        py.detach(|| {
            let file = File::create_new(&path).map_err(os)?;
            let mut words = Words { file, at: 0, bytes: Vec::new() };
            given.write(&mut words)?;
            words.file.sync_all().map_err(os)
        })
    }

    fn __len__(&self) -> usize {
        self.offsets.len() - 1
    }

    #[getter]
    fn index(&self) -> PyArray {
        array_to_python(&self.index)
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
    ) -> PyResult<OutputBatch> {
        if step <= 0 {
            let message = format!("a step of {step} ns, expected more than 0");
            return Err(PyValueError::new_err(message));
        }
        if stop < start {
            let message = format!("the stop, {stop} ns, comes before the start, {start} ns");
            return Err(PyValueError::new_err(message));
        }
        let end = end.unwrap_or(self.__len__());
        if first > end || end > self.__len__() {
            let message = format!("no lanes {first} to {end}, there are {}", self.__len__());
            return Err(PyIndexError::new_err(message));
        }
        let window = Window { from: start, to: stop, step };
        let batch = py.detach(|| self.columns(window, first..end));
        Ok(OutputBatch(batch.map_err(PyValueError::new_err)?))
    }
}

impl Lanes {
    fn columns(&self, window: Window, wanted: Range<usize>) -> Result<RecordBatch, String> {
        match &self.held {
            Held::Slices(lanes) => {
                let mut out = Columns::new(&SLICES);
                for number in wanted {
                    let (lane, offset) = (&lanes[number], self.offsets[number]);
                    lane.cells(window, |cell, sum| out.cell(number, offset, cell, sum));
                }
                out.batch()
            }
            Held::States(lanes) => {
                let mut out = Columns::new(&STATES);
                for number in wanted {
                    let (lane, offset) = (&lanes[number], self.offsets[number]);
                    lane.cells(window, |cell, sum| {
                        let (state, filled) = if cell.behind - cell.first == 1 {
                            (lane.worth().states[cell.first] as usize, sum[2])
                        } else {
                            States::majority(sum)
                        };
                        out.cell(number, offset, cell, sum);
                        out.more(&[state as i64, filled.cast_signed()]);
                    });
                }
                out.batch()
            }
            Held::Values(lanes) => {
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
