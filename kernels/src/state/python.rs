//! Histories as Python holds them: many may ask while one builds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::buffer::PyArrowBuffer;
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader};
use rustc_hash::FxHashSet;

use super::batch::Changes;
use super::cell::{Cell, Kind};
use super::fault::Fault;
use super::find::{Found, Times, Walk};
use super::history::{Action, History, Later, Store};
use super::mipmap::{Feature, Mipmap};
use super::partial::Checkpoints;
use super::rows::{Rows, schema, span_schema};
use super::tree::ROOT;
use super::writer::Writer;

/// Rows of a batch of an answer that comes bit by bit.
const ROWS: usize = 8192;

struct Built {
    history: History,
    mipmaps: BTreeMap<usize, Mipmap>,
}

/// A history, and who waits for its end.
struct Shared {
    built: RwLock<Built>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Built> {
        self.built.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Built> {
        self.built.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.notify_all();
    }
}

/// A history of states; see `dctv.state`.
#[pyclass(frozen)]
pub struct StateHistory {
    shared: Arc<Shared>,
    identity: Vec<u8>,
}

/// Start, end, whether it goes on, value.
type Interval<'py> = (i64, i64, bool, Bound<'py, PyAny>);

fn interval<'py>(py: Python<'py>, found: &Found) -> PyResult<Interval<'py>> {
    Ok((
        found.start,
        found.end,
        found.ongoing,
        found.cell.to_python(py)?,
    ))
}

fn feature(name: &str) -> Result<Feature, Fault> {
    let found = Feature::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| {
        Fault::Value(format!(
            "unknown feature `{name}`, expected max, min or avg"
        ))
    })
}

fn kind(name: &str) -> Result<Kind, Fault> {
    let found = (0..=4)
        .filter_map(Kind::of)
        .find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        Fault::Value(format!(
            "unknown type `{name}`, expected int, long, double or string"
        ))
    })
}

fn batch(rows: Rows) -> PyResult<PyRecordBatch> {
    let batch = rows
        .batch()
        .map_err(|error| Fault::Value(error.to_string()))?;
    Ok(PyRecordBatch::new(batch))
}

impl StateHistory {
    fn of(history: History, identity: Vec<u8>) -> StateHistory {
        let ended = !history.is_open();
        let built = Built {
            history,
            mipmaps: BTreeMap::new(),
        };
        StateHistory {
            shared: Arc::new(Shared {
                built: RwLock::new(built),
                ended: Mutex::new(ended),
                end: Condvar::new(),
            }),
            identity,
        }
    }

    fn cell(
        &self,
        quark: i64,
        value: &Bound<'_, PyAny>,
        wanted: Option<&str>,
    ) -> Result<Cell, Fault> {
        let wanted = wanted.map(kind).transpose()?;
        let known = {
            let built = self.shared.read();
            let place = built.history.tree.place(quark)?;
            built.history.tracks[place].kind
        };
        Cell::from_python(value, wanted, known)
    }
}

#[pymethods]
impl StateHistory {
    /// A history that is kept in memory, or forgotten.
    #[new]
    #[pyo3(signature = (start, *, keep=true, granularity=None))]
    fn new(start: i64, keep: bool, granularity: Option<u64>) -> StateHistory {
        let store = if keep { Store::Memory } else { Store::Nothing };
        let mut history = History::new(start, store);
        history.partial = granularity.map(Checkpoints::new);
        StateHistory::of(history, Vec::new())
    }

    /// A history that is written to a new file.
    #[staticmethod]
    #[pyo3(signature = (path, start, identity, *, granularity=None))]
    fn create(
        path: PathBuf,
        start: i64,
        identity: Vec<u8>,
        granularity: Option<u64>,
    ) -> PyResult<StateHistory> {
        let (writer, blocks) = Writer::new(&path, identity.clone())?;
        let mut history = History::new(start, Store::File(Box::new(writer)));
        history.blocks = blocks;
        history.partial = granularity.map(Checkpoints::new);
        Ok(StateHistory::of(history, identity))
    }

    /// A history that was written.
    #[staticmethod]
    fn open(py: Python<'_>, mapped: PyArrowBuffer) -> PyResult<StateHistory> {
        let buffer = mapped.into_inner();
        let (history, identity) = py.detach(|| super::reader::open(buffer))?;
        Ok(StateHistory::of(history, identity))
    }

    #[getter]
    fn identity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.identity)
    }

    #[getter]
    fn start(&self) -> i64 {
        self.shared.read().history.start
    }

    /// The last time, once the history is closed.
    #[getter]
    fn end(&self) -> Option<i64> {
        self.shared.read().history.end
    }

    #[getter]
    fn safe(&self) -> i64 {
        self.shared.read().history.safe()
    }

    #[getter]
    fn now(&self) -> i64 {
        self.shared.read().history.now
    }

    #[getter]
    fn given_up(&self) -> bool {
        self.shared.read().history.given_up
    }

    #[getter]
    fn intervals(&self) -> u64 {
        self.shared.read().history.intervals
    }

    /// How many changes there are between two times at which a partial history keeps states, 0 for others.
    #[getter]
    fn granularity(&self) -> u64 {
        let built = self.shared.read();
        built.history.partial.as_ref().map_or(0, Checkpoints::every)
    }

    fn __len__(&self) -> usize {
        self.shared.read().history.tree.len()
    }

    /// The attribute of a path below another (-1: below none); what is missing is made.
    fn add(&self, parent: i64, names: Vec<String>) -> PyResult<i64> {
        let mut built = self.shared.write();
        let history = &mut built.history;
        let mut quark = below(history, parent)?;
        for name in &names {
            quark = history.tree.add(quark, name)?.cast_signed();
        }
        history.grow();
        Ok(i64::from(quark))
    }

    /// The same, but -2 where there is none.
    fn find(&self, parent: i64, names: Vec<String>) -> PyResult<i64> {
        let built = self.shared.read();
        let mut quark = below(&built.history, parent)?;
        for name in &names {
            match built.history.tree.find(quark, name) {
                Some(found) => quark = found.cast_signed(),
                None => return Ok(-2),
            }
        }
        Ok(i64::from(quark))
    }

    /// Attributes right below one.
    fn children(&self, quark: i64) -> PyResult<Vec<u32>> {
        let built = self.shared.read();
        Ok(built
            .history
            .tree
            .children(below(&built.history, quark)?)
            .to_vec())
    }

    fn parent(&self, quark: i64) -> PyResult<i32> {
        let built = self.shared.read();
        let place = built.history.tree.place(quark)?;
        Ok(built.history.tree.parent(place))
    }

    fn name(&self, quark: i64) -> PyResult<String> {
        let built = self.shared.read();
        let place = built.history.tree.place(quark)?;
        Ok(built.history.tree.name(place).to_owned())
    }

    /// The type of an attribute's states: null, int, long, double or string.
    fn kind(&self, quark: i64) -> PyResult<&'static str> {
        let built = self.shared.read();
        let place = built.history.tree.place(quark)?;
        Ok(built.history.tracks[place].kind.name())
    }

    /// Change an attribute; return what was popped or polled.
    #[pyo3(signature = (time, quark, action, value=None, kind=None))]
    fn change<'py>(
        &self,
        py: Python<'py>,
        time: i64,
        quark: i64,
        action: &str,
        value: Option<Bound<'py, PyAny>>,
        kind: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let action = Action::named(action)?;
        let none = py.None().into_bound(py);
        let cell = self.cell(quark, &value.unwrap_or(none), kind)?;
        let made = py.detach(|| {
            self.shared
                .write()
                .history
                .change(time, quark, action, cell)
        })?;
        made.to_python(py)
    }

    /// Have a change made when time comes that far.
    #[pyo3(signature = (time, quark, action, value=None, kind=None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        time: i64,
        quark: i64,
        action: &str,
        value: Option<Bound<'py, PyAny>>,
        kind: Option<&str>,
    ) -> PyResult<()> {
        let action = Action::named(action)?;
        let none = py.None().into_bound(py);
        let cell = self.cell(quark, &value.unwrap_or(none), kind)?;
        let later = Later {
            quark,
            cell,
            action,
        };
        Ok(self.shared.write().history.ask(time, later)?)
    }

    /// Change an attribute whose coarser states are kept too.
    #[pyo3(signature = (time, quark, value, resolution, features, kind=None))]
    fn mipmap(
        &self,
        time: i64,
        quark: i64,
        value: Bound<'_, PyAny>,
        resolution: usize,
        features: Vec<String>,
        kind: Option<&str>,
    ) -> PyResult<()> {
        let cell = self.cell(quark, &value, kind)?;
        let features = features.iter().map(|name| feature(name));
        let features = features.collect::<Result<Vec<_>, _>>()?;
        let mut built = self.shared.write();
        let Built { history, mipmaps } = &mut *built;
        if history.partial.is_some() {
            let text =
                "a partial history keeps no coarser states, expected another kind of history";
            return Err(Fault::Value(text.to_owned()).into());
        }
        let place = history.tree.place(quark)?;
        history.change(time, quark, Action::Modify, cell.clone())?;
        if resolution > 1 && !features.is_empty() {
            let mipmap = mipmaps.entry(place);
            let mipmap = mipmap.or_insert_with(|| Mipmap::new(place, resolution));
            mipmap.modify(history, time, &cell, &features)?;
        }
        Ok(())
    }

    /// Make the changes of a batch; return how many these are.
    #[pyo3(signature = (changes, *, sort=false))]
    fn apply(&self, py: Python<'_>, changes: PyRecordBatch, sort: bool) -> PyResult<usize> {
        let changes = changes.into_inner();
        py.detach(|| {
            let mut built = self.shared.write();
            let history = &mut built.history;
            history.check_open()?;
            Changes::read(&changes, history, sort)?.make(history)?;
            Ok(changes.num_rows())
        })
    }

    /// What an attribute's state is now, whatever becomes of it.
    fn ongoing<'py>(&self, py: Python<'py>, quark: i64) -> PyResult<Interval<'py>> {
        let found = {
            let built = self.shared.read();
            built.history.check_open()?;
            built.history.ongoing(built.history.tree.place(quark)?)
        };
        interval(py, &found)
    }

    /// The state of an attribute at a time.
    fn single<'py>(&self, py: Python<'py>, quark: i64, time: i64) -> PyResult<Interval<'py>> {
        let found = py.detach(|| {
            let built = self.shared.read();
            built.history.single(built.history.tree.place(quark)?, time)
        })?;
        interval(py, &found)
    }

    /// The states of all attributes at a time, by quark.
    fn full(&self, py: Python<'_>, time: i64) -> PyResult<PyRecordBatch> {
        batch(py.detach(|| self.shared.read().history.full(time))?)
    }

    /// Intervals of attributes that touch a range.
    #[pyo3(signature = (quarks, first, last, *, backwards=false))]
    fn over(
        &self,
        quarks: Vec<i64>,
        first: i64,
        last: i64,
        backwards: bool,
    ) -> PyResult<PyRecordBatchReader> {
        let times = Times::Range(first.min(last), first.max(last));
        self.walk(quarks, times, first.min(last), backwards, None)
    }

    /// Intervals of attributes that one of some times is in.
    #[pyo3(signature = (quarks, times, *, backwards=false))]
    fn at(
        &self,
        quarks: Vec<i64>,
        mut times: Vec<i64>,
        backwards: bool,
    ) -> PyResult<PyRecordBatchReader> {
        times.sort_unstable();
        times.dedup();
        let first = times.first().copied();
        let first = first.unwrap_or_else(|| self.shared.read().history.start);
        self.walk(quarks, Times::At(times), first, backwards, None)
    }

    /// The same as spans: start, duration, quark, path, and the state as a number, a float or a text.
    #[pyo3(signature = (quarks, names, *, times=None, first=i64::MIN, last=i64::MAX))]
    fn spans(
        &self,
        quarks: Vec<i64>,
        names: Vec<String>,
        times: Option<Vec<i64>>,
        first: i64,
        last: i64,
    ) -> PyResult<PyRecordBatchReader> {
        let times = times.map(|mut times| {
            times.sort_unstable();
            Times::At(times)
        });
        let start = self.shared.read().history.start;
        let times = times.unwrap_or(Times::Range(first.max(start), last));
        let schema = span_schema(&names).map_err(|error| Fault::Value(error.to_string()))?;
        self.walk(quarks, times, start, false, Some(schema))
    }

    /// The maximum, minimum or average of an attribute over a range.
    fn range<'py>(
        &self,
        py: Python<'py>,
        quark: i64,
        first: i64,
        last: i64,
        of: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let feature = feature(of)?;
        let cell = py.detach(|| {
            let built = self.shared.read();
            let place = built.history.tree.place(quark)?;
            built.history.range(place, first, last, feature)
        })?;
        cell.to_python(py)
    }

    /// End the history.
    fn close(&self, py: Python<'_>, end: i64) -> PyResult<()> {
        py.detach(|| {
            let mut built = self.shared.write();
            let Built { history, mipmaps } = &mut *built;
            history.check_open()?;
            history.catch_up()?;
            let end = end.max(history.now);
            for mipmap in mipmaps.values_mut() {
                mipmap.finish(history, end)?;
            }
            history.close(end)
        })?;
        self.shared.tell_end();
        Ok(())
    }

    /// Forget it; who asks from now on gets an error.
    fn give_up(&self) {
        self.shared.write().history.given_up = true;
        self.shared.tell_end();
    }

    /// Wait until the history is closed or given up, or for some seconds; say whether it is closed.
    #[pyo3(signature = (seconds=None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<bool> {
        let limit = match seconds {
            None => Duration::MAX,
            Some(seconds) => Duration::try_from_secs_f64(seconds.max(0.0))
                .map_err(|error| Fault::Value(error.to_string()))?,
        };
        let mut left = limit;
        let step = Duration::from_millis(50);
        loop {
            let ended = py.detach(|| {
                let ended = self
                    .shared
                    .ended
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let waited = self
                    .shared
                    .end
                    .wait_timeout_while(ended, left.min(step), |ended| !*ended);
                *waited.unwrap_or_else(PoisonError::into_inner).0
            });
            left = left.saturating_sub(step);
            if ended || left.is_zero() {
                let built = self.shared.read();
                return Ok(!built.history.is_open() && !built.history.given_up);
            }
            py.check_signals()?;
        }
    }

    /// A history of the part of a partial one that a time is in, and the first and last time of that part.
    fn part(&self, py: Python<'_>, time: i64) -> PyResult<(StateHistory, i64, i64)> {
        let built = self.shared.read();
        let part = py.detach(|| built.history.part(time))?;
        let times = built
            .history
            .partial
            .as_ref()
            .map(|one| one.part(built.history.start, time));
        let (first, last) = times.unwrap_or((part.start, part.start));
        Ok((StateHistory::of(part, Vec::new()), first, last))
    }
}

fn below(history: &History, quark: i64) -> Result<i32, Fault> {
    if quark == i64::from(ROOT) {
        return Ok(ROOT);
    }
    Ok(history.tree.place(quark)? as i32)
}

impl StateHistory {
    fn walk(
        &self,
        mut quarks: Vec<i64>,
        times: Times,
        first: i64,
        backwards: bool,
        spans: Option<SchemaRef>,
    ) -> PyResult<PyRecordBatchReader> {
        let walk = {
            let built = self.shared.read();
            let history = &built.history;
            if history.given_up {
                history.check_open()?;
            }
            if first < history.start {
                history.check_time(first)?;
            }
            let mut known = FxHashSet::default();
            quarks.retain(|quark| known.insert(*quark));
            let places = quarks.iter().map(|quark| history.tree.place(*quark));
            let places = places.collect::<Result<Vec<_>, _>>()?;
            Walk::new(places, times, backwards, history.safe())
        };
        let answer = Answer {
            shared: self.shared.clone(),
            walk,
            spans,
        };
        Ok(PyRecordBatchReader::new(Box::new(answer)))
    }
}

/// An answer that is looked up as it is read, as spans of a schema if there is one.
struct Answer {
    shared: Arc<Shared>,
    walk: Walk,
    spans: Option<SchemaRef>,
}

impl Iterator for Answer {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let built = self.shared.read();
        let mut rows = Rows::default();
        if let Err(fault) = self.walk.fill(&built.history, &mut rows, ROWS) {
            return Some(Err(ArrowError::ExternalError(Box::new(fault))));
        }
        (rows.len() > 0).then(|| match &self.spans {
            None => rows.batch(),
            Some(schema) => rows.spans(&built.history.tree, schema.clone()),
        })
    }
}

impl RecordBatchReader for Answer {
    fn schema(&self) -> SchemaRef {
        self.spans.clone().unwrap_or_else(schema)
    }
}
