//! `CallSums`: compute the sums of `dctv report` from a stored table, or from batches of shown calls.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::stored::{Wanted, integer, text_at};
use super::sums::{Added, Sums, TimeSums};
use super::walk::{CallSource, Taken, Walk};
use crate::exchange::InputBatch;
use crate::sweeps::{Cancel, fail, to_python};

/// Data of a call until it is known to be shown.
#[derive(Clone, Copy)]
struct PendingCall {
    start: i64,
    /// `MISSING` if it is not known.
    length: i64,
    own: i64,
    function: u32,
    inherited: bool,
}

const MISSING: i64 = i64::MIN;
const NONE: u32 = u32::MAX;

fn known(time: i64) -> Option<i64> {
    (time != MISSING).then_some(time)
}

/// Groups by function, as far as they were requested.
#[derive(Default)]
struct Groups(Vec<u32>);

/// Reads and filters a stored table to its end.
fn stored(walk: &mut Walk<PendingCall>, sums: &mut Sums) -> Result<(), ArrowError> {
    let mut groups = Groups::default();
    loop {
        let more = walk.step(|taken: &Taken| PendingCall {
            start: taken.time,
            length: taken.length.unwrap_or(MISSING),
            own: taken.block.own.as_ref().and_then(|own| integer(own, taken.row)).unwrap_or(MISSING),
            function: taken.function,
            inherited: taken.state.inherited,
        })?;
        let functions = &walk.engine.functions;
        for shown in walk.engine.out.drain(..) {
            let pending = shown.more;
            let place = pending.function as usize;
            if groups.0.len() <= place {
                groups.0.resize(place + 1, NONE);
            }
            let group = match groups.0.get_mut(place) {
                Some(group) if !pending.inherited => {
                    if *group == NONE
                        && let Some(function) = functions.get(pending.function)
                    {
                        *group = sums.group(function.named.then(|| function.name.clone()));
                        sums.sized(*group, function.size);
                    }
                    *group
                }
                _ => {
                    let group = sums.group(None);
                    let function = functions.get(pending.function);
                    sums.sized(group, function.and_then(|one| one.size));
                    group
                }
            };
            sums.add(&Added {
                thread: shown.thread,
                id: shown.id,
                above: shown.above,
                start: pending.start,
                length: known(pending.length),
                own: known(pending.own),
                group,
                outermost: shown.depth == 0,
            });
        }
        if !more {
            sums.finish();
            return Ok(());
        }
    }
}

/// State for shown calls that come in batches.
struct State {
    sums: Sums,
    threads: FxHashMap<i64, u32>,
    names: FxHashMap<Box<str>, u32>,
}

impl State {
    fn thread(&mut self, tid: i64) -> u32 {
        let fresh = self.threads.len() as u32;
        *self.threads.entry(tid).or_insert(fresh)
    }

    /// Columns: `_ts`, length, id, parent, depth, thread, name, self time, and optionally size.
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let differs = || fail("expected times, places, threads and names of calls");
        let integers = |number: usize| {
            let column = batch.columns().get(number);
            column.and_then(|one| one.as_primitive_opt::<Int64Type>())
        };
        let needed = |number| integers(number).ok_or_else(differs);
        let (times, lengths, ids) = (needed(0)?, needed(1)?, needed(2)?);
        let (parents, tids, own, sizes) = (needed(3)?, needed(5)?, needed(7)?, integers(8));
        let column = |number: usize| batch.columns().get(number).ok_or_else(differs);
        let depths = column(4)?.as_primitive_opt::<Int32Type>().ok_or_else(differs)?;
        let names = column(6)?.as_string_opt::<i32>().ok_or_else(differs)?;
        for row in 0..batch.num_rows() {
            let name = text_at(names, row);
            let group = match name.and_then(|name| self.names.get(name)) {
                Some(&group) => group,
                None => {
                    let group = self.sums.group(name.map(Arc::from));
                    if let Some(name) = name {
                        self.names.insert(name.into(), group);
                    }
                    group
                }
            };
            if let Some(sizes) = sizes {
                self.sums.sized(group, integer(sizes, row));
            }
            let thread = self.thread(tids.value(row));
            self.sums.add(&Added {
                thread,
                id: ids.value(row),
                above: integer(parents, row),
                start: times.value(row),
                length: integer(lengths, row),
                own: integer(own, row),
                group,
                outermost: depths.value(row) == 0,
            });
        }
        Ok(())
    }
}

/// Sums of the calls of a function.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
pub struct FunctionSums {
    name: Option<String>,
    calls: u64,
    size: Option<i64>,
    total: i128,
    lengths: TimeSums,
    own: TimeSums,
}

/// Sums of the calls of a thread.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
pub struct ThreadSums {
    tid: i64,
    calls: u64,
    total: i128,
    own: i128,
}

/// Sums shown calls by function and by thread.
#[pyclass(module = "dctv._kernels")]
pub struct CallSums(State);

#[pymethods]
impl CallSums {
    #[new]
    #[pyo3(signature = (*, measured))]
    fn new(measured: bool) -> Self {
        Self(State { sums: Sums::new(measured), threads: FxHashMap::default(), names: FxHashMap::default() })
    }

    /// Add the calls of a batch.
    fn push(&mut self, py: Python<'_>, batch: InputBatch) -> PyResult<()> {
        let batch = batch.0;
        py.detach(|| self.0.batch(&batch)).map_err(to_python)
    }

    /// Add the calls of a stored table that pass the filters.
    #[pyo3(signature = (path, source, *, cancel=None))]
    fn read(
        &mut self,
        py: Python<'_>,
        path: PathBuf,
        source: CallSource,
        cancel: Option<PyRef<'_, Cancel>>,
    ) -> PyResult<()> {
        let wanted = Wanted { own: self.0.sums.measured, ..Wanted::default() };
        let mut walk = Walk::open(&path, source, wanted, cancel).map_err(to_python)?;
        let read = py.detach(|| stored(&mut walk, &mut self.0.sums));
        self.0.threads = walk.threads();
        read.map_err(to_python)
    }

    /// Return the sums of each function.
    fn functions(&mut self) -> Vec<FunctionSums> {
        self.0.sums.finish();
        let groups = self.0.sums.groups.iter().filter(|group| group.calls > 0);
        groups
            .map(|group| FunctionSums {
                name: group.name.as_deref().map(str::to_owned),
                calls: group.calls,
                size: group.size,
                total: group.total,
                lengths: group.lengths,
                own: group.own,
            })
            .collect()
    }

    /// Return the sums of each thread.
    fn threads(&mut self) -> Vec<ThreadSums> {
        let state = &mut self.0;
        state.sums.finish();
        let rows = state.threads.iter().filter_map(|(&tid, &number)| {
            let thread = state.sums.threads.get(number as usize)?;
            let sums = ThreadSums { tid, calls: thread.calls, total: thread.total, own: thread.own };
            (sums.calls > 0).then_some(sums)
        });
        rows.collect()
    }
}
