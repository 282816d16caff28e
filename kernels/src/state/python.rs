//! Python objects for histories.

use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rustc_hash::FxHashSet;

use super::arguments;
use super::batch::Changes;
use super::cell::Cell;
use super::fault::Fault;
use super::find::{Extent, Found};
use super::history::{Action, History, Later, Store};
use super::mipmap::Mipmap;
use super::partial::Checkpoints;
use super::rows::{Rows, span_schema};
use super::shared::{Answer, Built, Shared};
use super::tree::ROOT;
use super::walk::{Times, Walk};
use super::writer::Writer;
use crate::exchange::{InputBatch, OutputBatch, OutputStream, PyArray, bytes};

/// How often waiting threads check for signals.
const STEP: Duration = Duration::from_millis(50);

/// A history of states; see `dctv.state`.
#[pyclass(frozen)]
pub struct StateHistory {
    shared: Arc<Shared>,
    identity: Vec<u8>,
}

/// Start, end, whether it continues, value.
type Interval<'py> = (i64, i64, bool, Bound<'py, PyAny>);

fn interval<'py>(py: Python<'py>, found: &Found) -> PyResult<Interval<'py>> {
    let value = found.cell.to_python(py)?;
    let Extent { start, end, ongoing } = found.extent;
    Ok((start, end, ongoing, value))
}

fn batch(rows: Rows) -> PyResult<OutputBatch> {
    let batch = rows.batch();
    let batch = batch.map_err(|error| Fault::Value(error.to_string()))?;
    Ok(OutputBatch(batch))
}

fn below(history: &History, quark: i64) -> Result<i32, Fault> {
    if quark == i64::from(ROOT) {
        return Ok(ROOT);
    }
    Ok(history.tree.place(quark)? as i32)
}

impl StateHistory {
    fn of(history: History, identity: Vec<u8>) -> StateHistory {
        let shared = Arc::new(Shared::new(history));
        StateHistory { shared, identity }
    }

    /// Convert a Python value to the value of a change of an attribute.
    fn cell(
        &self,
        py: Python<'_>,
        (quark, action): (i64, Action),
        value: Option<&Bound<'_, PyAny>>,
        wanted: Option<&str>,
    ) -> PyResult<Cell> {
        let wanted = wanted.map(arguments::kind).transpose()?;
        let known = self.shared.ask(py, |history| {
            let place = history.tree.place(quark)?;
            Ok(history.kind_for(place, action))
        })?;
        match value {
            None => Ok(Cell::default()),
            Some(value) => Ok(Cell::from_python(value, wanted, known)?),
        }
    }

    fn walk(
        &self,
        py: Python<'_>,
        mut quarks: Vec<i64>,
        times: Times,
        backwards: bool,
        spans: Option<SchemaRef>,
    ) -> PyResult<OutputStream> {
        let walk = self.shared.ask(py, |history| {
            history.check_not_abandoned()?;
            if let Some(first) = times.first().filter(|first| *first < history.start) {
                history.check_time(first)?;
            }
            let mut known = FxHashSet::default();
            quarks.retain(|quark| known.insert(*quark));
            let places = quarks.iter().map(|quark| history.tree.place(*quark));
            let places = places.collect::<Result<Vec<_>, _>>()?;
            Ok(Walk::new(places, times, backwards, history.safe()))
        })?;
        let answer = Answer { shared: self.shared.clone(), walk, spans };
        Ok(OutputStream::new(Box::new(answer)))
    }
}

#[pymethods]
impl StateHistory {
    /// A history in memory, or discarded.
    #[new]
    #[pyo3(signature = (start, *, keep=true, granularity=None))]
    fn new(
        #[pyo3(from_py_with = arguments::time)] start: i64,
        keep: bool,
        #[pyo3(from_py_with = arguments::granularity)] granularity: Option<u64>,
    ) -> StateHistory {
        let store = if keep { Store::Memory } else { Store::Nothing };
        let mut history = History::new(start, store);
        history.partial = granularity.map(Checkpoints::new);
        StateHistory::of(history, Vec::new())
    }

    /// Start a history in a new file.
    #[staticmethod]
    #[pyo3(signature = (path, start, identity, *, granularity=None))]
    fn create(
        path: PathBuf,
        #[pyo3(from_py_with = arguments::time)] start: i64,
        identity: Vec<u8>,
        #[pyo3(from_py_with = arguments::granularity)] granularity: Option<u64>,
    ) -> PyResult<StateHistory> {
        let made = Writer::new(&path, identity.clone());
        let (writer, blocks) =
            made.map_err(|error| PyOSError::new_err((error.raw_os_error(), error.to_string(), path.clone())))?;
        let mut history = History::new(start, Store::File(Box::new(writer)));
        history.blocks = blocks;
        history.partial = granularity.map(Checkpoints::new);
        Ok(StateHistory::of(history, identity))
    }

    /// Open a history in a file.
    #[staticmethod]
    fn open(py: Python<'_>, saved: PyArray) -> PyResult<StateHistory> {
        let buffer = bytes(saved)?;
        let (history, identity) = py.detach(|| super::reader::open(buffer))?;
        Ok(StateHistory::of(history, identity))
    }

    #[getter]
    fn identity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.identity)
    }

    #[getter]
    fn start(&self, py: Python<'_>) -> PyResult<i64> {
        self.shared.ask(py, |history| Ok(history.start))
    }

    /// The last time, once the history is closed.
    #[getter]
    fn end(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.shared.ask(py, |history| Ok(history.end))
    }

    #[getter]
    fn safe(&self, py: Python<'_>) -> PyResult<i64> {
        self.shared.ask(py, |history| Ok(history.safe()))
    }

    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<i64> {
        self.shared.ask(py, |history| Ok(history.now))
    }

    #[getter]
    fn given_up(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.ask(py, |history| Ok(history.given_up))
    }

    #[getter]
    fn intervals(&self, py: Python<'_>) -> PyResult<u64> {
        self.shared.ask(py, |history| Ok(history.intervals))
    }

    /// The number of changes between two checkpoints of a partial history, 0 for other histories.
    #[getter]
    fn granularity(&self, py: Python<'_>) -> PyResult<u64> {
        let every = |history: &History| history.partial.as_ref().map_or(0, Checkpoints::every);
        self.shared.ask(py, |history| Ok(every(history)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.ask(py, |history| Ok(history.tree.len()))
    }

    /// Return the attribute of a path below another (-1: at the root); missing attributes are created.
    fn add(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::quark)] parent: i64,
        names: Vec<Bound<'_, PyString>>,
    ) -> PyResult<i64> {
        let names = arguments::texts(&names)?;
        self.shared.change(py, |built| {
            let history = &mut built.history;
            let mut quark = below(history, parent)?;
            for name in &names {
                quark = history.attribute(quark, name)?.cast_signed();
            }
            Ok(i64::from(quark))
        })
    }

    /// The same, but -2 if it does not exist.
    fn find(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::quark)] parent: i64,
        names: Vec<Bound<'_, PyString>>,
    ) -> PyResult<i64> {
        let names = arguments::texts(&names)?;
        self.shared.ask(py, |history| {
            let mut quark = below(history, parent)?;
            for name in &names {
                match history.tree.find(quark, name) {
                    Some(found) => quark = found.cast_signed(),
                    None => return Ok(-2),
                }
            }
            Ok(i64::from(quark))
        })
    }

    /// Return the direct children of an attribute.
    fn children(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::quark)] quark: i64) -> PyResult<Vec<u32>> {
        self.shared.ask(py, |history| {
            let quark = below(history, quark)?;
            Ok(history.tree.children(quark).to_vec())
        })
    }

    fn parent(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::quark)] quark: i64) -> PyResult<i32> {
        self.shared.ask(py, |history| Ok(history.tree.parent(history.tree.place(quark)?)))
    }

    fn name(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::quark)] quark: i64) -> PyResult<String> {
        self.shared.ask(py, |history| {
            let place = history.tree.place(quark)?;
            Ok(history.tree.name(place).to_owned())
        })
    }

    /// Return the type of an attribute's states: null, int, long, double or string.
    fn kind(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::quark)] quark: i64) -> PyResult<&'static str> {
        self.shared.ask(py, |history| {
            let place = history.tree.place(quark)?;
            Ok(history.tracks[place].kind.name())
        })
    }

    /// Change an attribute; return the popped or polled value.
    #[pyo3(signature = (time, quark, action, value=None, kind=None))]
    fn change<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::time)] time: i64,
        #[pyo3(from_py_with = arguments::quark)] quark: i64,
        action: &str,
        value: Option<Bound<'py, PyAny>>,
        kind: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let action = Action::named(action)?;
        let cell = self.cell(py, (quark, action), value.as_ref(), kind)?;
        let made = self.shared.change(py, |built| built.history.change(time, quark, action, cell))?;
        made.to_python(py)
    }

    /// Schedule a change for when time has advanced that far.
    #[pyo3(signature = (time, quark, action, value=None, kind=None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::time)] time: i64,
        #[pyo3(from_py_with = arguments::quark)] quark: i64,
        action: &str,
        value: Option<Bound<'py, PyAny>>,
        kind: Option<&str>,
    ) -> PyResult<()> {
        let action = Action::named(action)?;
        let cell = self.cell(py, (quark, action), value.as_ref(), kind)?;
        let later = Later { quark, cell, action };
        self.shared.change(py, |built| built.history.ask(time, later))
    }

    /// Change an attribute with coarser states: the number of states per coarser one, and the features.
    #[pyo3(signature = (time, quark, value, coarser, kind=None))]
    fn mipmap(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::time)] time: i64,
        #[pyo3(from_py_with = arguments::quark)] quark: i64,
        value: Bound<'_, PyAny>,
        coarser: (usize, Vec<String>),
        kind: Option<&str>,
    ) -> PyResult<()> {
        let cell = self.cell(py, (quark, Action::Modify), Some(&value), kind)?;
        let (resolution, features) = coarser;
        let features = features.iter().map(|name| arguments::feature(name));
        let features = features.collect::<Result<Vec<_>, _>>()?;
        self.shared.change(py, |built| {
            let Built { history, mipmaps } = built;
            let place = history.tree.place(quark)?;
            if resolution < 2 || features.is_empty() {
                return history.change(time, quark, Action::Modify, cell).map(drop);
            }
            let mipmap = match mipmaps.entry(place) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    history.fits(place, &cell)?;
                    new.insert(Mipmap::new(history, place, &cell, (resolution, &features))?)
                }
            };
            mipmap.modify(history, time, cell)
        })
    }

    /// Apply the changes of a batch; return their number.
    #[pyo3(signature = (changes, *, sort=false))]
    fn apply(&self, py: Python<'_>, changes: InputBatch, sort: bool) -> PyResult<usize> {
        let changes = changes.0;
        self.shared.change(py, |built| {
            let history = &mut built.history;
            history.check_open()?;
            Changes::read(&changes, history, sort)?.make(history)?;
            Ok(changes.num_rows())
        })
    }

    /// Return the current state of an attribute, whatever its end.
    fn ongoing<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::quark)] quark: i64,
    ) -> PyResult<Interval<'py>> {
        let found = self.shared.ask(py, |history| {
            history.check_open()?;
            Ok(history.ongoing(history.tree.place(quark)?))
        })?;
        interval(py, &found)
    }

    /// Return the state of an attribute at a time.
    fn single<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::quark)] quark: i64,
        #[pyo3(from_py_with = arguments::time)] time: i64,
    ) -> PyResult<Interval<'py>> {
        let found = self.shared.ask(py, |history| history.single(history.tree.place(quark)?, time))?;
        interval(py, &found)
    }

    /// Return the states of all attributes at a time, by quark.
    fn full(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::time)] time: i64) -> PyResult<OutputBatch> {
        batch(self.shared.ask(py, |history| history.full(time))?)
    }

    /// Return the intervals of attributes that touch a range.
    #[pyo3(signature = (quarks, first, last, *, backwards=false))]
    fn over(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::quarks)] quarks: Vec<i64>,
        #[pyo3(from_py_with = arguments::time)] first: i64,
        #[pyo3(from_py_with = arguments::time)] last: i64,
        backwards: bool,
    ) -> PyResult<OutputStream> {
        let times = Times::Range(first.min(last), first.max(last));
        self.walk(py, quarks, times, backwards, None)
    }

    /// Return the intervals of attributes that contain one of some times.
    #[pyo3(signature = (quarks, times, *, backwards=false))]
    fn at(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::quarks)] quarks: Vec<i64>,
        #[pyo3(from_py_with = arguments::times)] times: Vec<i64>,
        backwards: bool,
    ) -> PyResult<OutputStream> {
        self.walk(py, quarks, Times::at(times), backwards, None)
    }

    /// Return the same as spans: start, duration, quark, path, and the state as a number, a float or a text.
    #[pyo3(signature = (quarks, names, *, times=None, first=i64::MIN, last=i64::MAX))]
    fn spans(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::quarks)] quarks: Vec<i64>,
        names: Vec<String>,
        #[pyo3(from_py_with = arguments::some_times)] times: Option<Vec<i64>>,
        #[pyo3(from_py_with = arguments::time)] first: i64,
        #[pyo3(from_py_with = arguments::time)] last: i64,
    ) -> PyResult<OutputStream> {
        let start = self.start(py)?;
        let times = match times {
            Some(times) => Times::at(times.into_iter().filter(|time| *time >= start).collect()),
            None => Times::Range(first.max(start), last),
        };
        let schema = span_schema(&names).map_err(|error| Fault::Value(error.to_string()))?;
        self.walk(py, quarks, times, false, Some(schema))
    }

    /// Return the maximum, minimum or average of an attribute over a range.
    fn range<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::quark)] quark: i64,
        #[pyo3(from_py_with = arguments::time)] first: i64,
        #[pyo3(from_py_with = arguments::time)] last: i64,
        of: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let feature = arguments::feature(of)?;
        let cell = self.shared.ask(py, |history| history.range(history.tree.place(quark)?, first, last, feature))?;
        cell.to_python(py)
    }

    /// Close the history; if that fails it is abandoned.
    fn close(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::time)] end: i64) -> PyResult<()> {
        let closed = self.shared.change(py, |built| {
            let Built { history, mipmaps } = built;
            history.check_open()?;
            let closed = end_all(history, mipmaps.values_mut(), end);
            history.given_up |= closed.is_err();
            closed
        });
        self.shared.notify_end();
        closed
    }

    /// Abandon the history; later queries fail.
    fn give_up(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.change(py, |built| {
            built.history.given_up = true;
            Ok(())
        })?;
        self.shared.notify_end();
        Ok(())
    }

    /// Wait until the history is closed or abandoned, or for some seconds; return whether it is closed.
    #[pyo3(signature = (seconds=None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<bool> {
        let mut left = match seconds {
            None => Duration::MAX,
            Some(seconds) => {
                Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|error| Fault::Value(error.to_string()))?
            }
        };
        loop {
            let ended = py.detach(|| self.shared.wait(left.min(STEP)));
            left = left.saturating_sub(STEP);
            if ended || left.is_zero() {
                return self.shared.ask(py, |history| Ok(!history.is_open() && !history.given_up));
            }
            py.check_signals()?;
        }
    }

    /// Return the range of the part of a partial history that contains a time: the first time of the part before it,
    /// its own first and last one, and the last of the part after it.
    fn span(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::time)] time: i64,
    ) -> PyResult<(i64, i64, i64, i64)> {
        let span = self.shared.ask(py, |history| history.span(time))?;
        Ok((span.before, span.first, span.last, span.after))
    }

    /// Return a history for a replay of that part; the states of adjacent parts are used if available.
    #[pyo3(signature = (time, *, before=None, after=None))]
    fn part(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::time)] time: i64,
        before: Option<&StateHistory>,
        after: Option<&StateHistory>,
    ) -> PyResult<StateHistory> {
        let edge = |part: &StateHistory, time: fn(&History) -> i64| {
            part.shared.ask(py, |history| history.all_at(time(history)))
        };
        let before = before.map(|part| edge(part, History::safe)).transpose()?;
        let after = after.map(|part| edge(part, |history| history.start)).transpose()?;
        let part = self.shared.ask(py, |history| history.part(time, before, after))?;
        Ok(StateHistory::of(part, Vec::new()))
    }

    /// Replay changes of a part; return whether all requested states are known.
    fn replay(&self, py: Python<'_>, changes: InputBatch) -> PyResult<bool> {
        let changes = changes.0;
        self.shared.change(py, |built| {
            let history = &mut built.history;
            Changes::read(&changes, history, false)?.make(history)?;
            let replay = history.replay.as_ref();
            Ok(replay.is_some_and(|replay| history.now > replay.last && replay.missing == 0))
        })
    }
}

fn end_all<'a>(history: &mut History, mipmaps: impl Iterator<Item = &'a mut Mipmap>, end: i64) -> Result<(), Fault> {
    history.catch_up()?;
    let end = end.max(history.now);
    for mipmap in mipmaps {
        mipmap.finish(history, end)?;
    }
    history.close(end)
}
