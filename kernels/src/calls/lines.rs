//! `StoredReplay`: print a stored table of recorded calls, and events, as lines of text on demand.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use super::columns::Columns;
use super::engine::Shown;
use super::replay::{Call, Printer};
use super::stored::{Wanted, integer, text};
use super::style::Style;
use super::walk::{CallSource, Taken, Walk};
use crate::exchange::InputBatch;
use crate::sweeps::{Cancel, fail, to_python};

/// Approximate bytes per result.
const PIECE: usize = 1 << 18;
/// Likewise for the first result, so that the first lines come soon.
const FIRST: usize = 1 << 12;

/// Data of a call until it is known to be shown.
#[derive(Clone)]
struct PendingCall {
    time: i64,
    tid: i64,
    length: Option<i64>,
    level: i64,
    address: Option<i64>,
    args: Option<Arc<str>>,
    result: Option<Arc<str>>,
    function: u32,
    timed: bool,
}

fn pending(taken: &Taken) -> PendingCall {
    let block = taken.block;
    let long = |column: &Option<_>| {
        let column = column.as_ref();
        column.and_then(|values| integer(values, taken.row))
    };
    PendingCall {
        time: taken.time,
        tid: block.tids.value(taken.row),
        length: taken.length,
        level: long(&block.depths).unwrap_or(0),
        address: long(&block.addresses),
        args: text(&block.args, taken.row).map(Arc::from),
        result: text(&block.results, taken.row).map(Arc::from),
        function: taken.function,
        timed: !taken.state.entered,
    }
}

struct Lines {
    walk: Walk<PendingCall>,
    printer: Printer,
    /// Shown calls that are not printed yet.
    calls: VecDeque<Shown<PendingCall>>,
    more: bool,
    /// Events that are not printed yet, with the place of the next one in the first batch.
    events: VecDeque<RecordBatch>,
    next: usize,
    /// Names of threads.
    tasks: FxHashMap<i64, Arc<str>>,
    unnamed: Arc<str>,
    piece: usize,
    ended: bool,
}

impl Lines {
    /// Time and number of the next event.
    fn event(&mut self) -> Result<Option<(i64, i64)>, ArrowError> {
        while let Some(batch) = self.events.front() {
            if self.next < batch.num_rows() {
                let columns = Columns(batch.columns());
                let found = columns.long(0, self.next).zip(columns.long(2, self.next));
                return found.map(Some).ok_or_else(|| fail("an event has no time or number"));
            }
            self.events.pop_front();
            self.next = 0;
        }
        Ok(None)
    }

    /// Time and number of the next shown call.
    fn call(&mut self) -> Result<Option<(i64, i64)>, ArrowError> {
        while self.calls.is_empty() && self.more {
            self.more = self.walk.step(pending)?;
            self.calls.extend(self.walk.engine.out.drain(..));
        }
        Ok(self.calls.front().map(|call| (call.more.time, call.id)))
    }

    fn print_event(&mut self) -> Result<(), ArrowError> {
        if let Some(batch) = self.events.front() {
            self.printer.row(&Columns(batch.columns()), self.next)?;
        }
        self.next += 1;
        Ok(())
    }

    fn print_call(&mut self) -> Result<(), ArrowError> {
        let (Some(call), functions) = (self.calls.pop_front(), &self.walk.engine.functions) else {
            return Ok(());
        };
        let function = functions.get(call.more.function);
        let pending = call.more;
        let task = self.tasks.get(&pending.tid).unwrap_or(&self.unnamed);
        let number = self.printer.number(pending.tid)?;
        let color = function.and_then(|one| self.printer.color(&one.name, one.module.as_deref()));
        self.printer.enter(
            number,
            Call {
                id: call.id,
                tid: pending.tid,
                time: pending.time,
                duration: pending.length,
                depth: call.depth,
                level: pending.level,
                marks: call.marks,
                indent: call.indent,
                outdent: call.outdent,
                address: pending.address,
                name: function.map_or_else(|| self.unnamed.clone(), |one| one.name.clone()),
                args: pending.args,
                result: pending.result,
                module: function.and_then(|one| one.module.clone()),
                task: task.clone(),
                stack: call.stack,
                timed: pending.timed,
                is_event: false,
                color,
            },
        );
        Ok(())
    }

    /// Print until there is enough text, or until the next event may be missing.
    fn print(&mut self, last: bool) -> Result<(), ArrowError> {
        while self.printer.waiting() < self.piece {
            let (event, call) = (self.event()?, self.call()?);
            match (event, call) {
                (None, _) if !last => break,
                (Some(event), call) if call.is_none_or(|call| event < call) => {
                    self.print_event()?;
                }
                (_, Some(_)) => self.print_call()?,
                _ if self.ended => break,
                _ => {
                    self.ended = true;
                    self.printer.finish();
                }
            }
        }
        self.piece = PIECE;
        Ok(())
    }
}

/// Prints the calls of a stored table that pass the filters, and events.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct StoredReplay(Mutex<Lines>);

#[pymethods]
impl StoredReplay {
    #[new]
    #[pyo3(signature = (style, path, source, *, tasks, cancel=None))]
    fn new(
        style: Style,
        path: PathBuf,
        source: CallSource,
        tasks: Vec<(i64, String)>,
        cancel: Option<PyRef<'_, Cancel>>,
    ) -> PyResult<Self> {
        let wanted = Wanted { modules: true, args: true, lines: true, ..Wanted::default() };
        let lines = Lines {
            walk: Walk::open(&path, source, wanted, cancel).map_err(to_python)?,
            printer: Printer::new(style).map_err(to_python)?,
            calls: VecDeque::new(),
            more: true,
            events: VecDeque::new(),
            next: 0,
            tasks: tasks.into_iter().map(|(tid, name)| (tid, name.into())).collect(),
            unnamed: Arc::from(""),
            piece: FIRST,
            ended: false,
        };
        Ok(Self(Mutex::new(lines)))
    }

    /// Take events, in order of time, in the columns of `Replay`.
    fn add(&self, batch: InputBatch) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.events.push_back(batch.0);
    }

    /// Return more lines; none if events must be added before, or at the end after the last ones.
    fn lines<'py>(&self, py: Python<'py>, last: bool) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.print(last).map(|()| lines.printer.taken())
        });
        Ok(PyBytes::new(py, &made.map_err(to_python)?))
    }
}
