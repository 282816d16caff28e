//! Entries and exits of threads -> rows of calls.

use super::events::Head;
use super::symbols::Symbols;
use super::tables::call;
use super::task::{Frame, Task};
use crate::rows::Sink;

/// How a call ended, other than by its recorded exit after its recorded entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Whole,
    /// It was not left when the recording ended.
    Open,
    /// It was never left: by `longjmp`, an exception or `exec`.
    Left,
    /// Records were lost while it was open.
    Lost,
    /// Its entry was not recorded.
    Entered,
    /// It was open when its process was forked, and was not left in it.
    Inherited,
}

impl State {
    fn name(self) -> Option<&'static [u8]> {
        match self {
            State::Whole => None,
            State::Open => Some(b"open"),
            State::Left => Some(b"left"),
            State::Lost => Some(b"lost"),
            State::Entered => Some(b"entered"),
            State::Inherited => Some(b"inherited"),
        }
    }
}

/// When and how a call ended, and the text of its result.
#[derive(Clone, Copy)]
pub struct End<'a> {
    pub time: i64,
    pub state: State,
    pub result: Option<&'a [u8]>,
}

impl End<'_> {
    /// An end that was not recorded.
    pub fn missing(time: i64, state: State) -> End<'static> {
        End {
            time,
            state,
            result: None,
        }
    }
}

/// Rows of calls, and how many there were.
#[derive(Default)]
pub struct Calls {
    table: usize,
    pub rows: u64,
    pub left: u64,
    pub entered: u64,
    pub open: u64,
    /// Calls that end before they begin.
    pub backward: u64,
}

impl Calls {
    pub fn new(table: usize) -> Calls {
        Calls {
            table,
            ..Calls::default()
        }
    }

    /// Take the newest call off a thread's stack.
    #[inline]
    pub fn close(&mut self, sink: &mut Sink, symbols: &Symbols, task: &mut Task, end: End) {
        let Some(frame) = task.stack.pop() else {
            return;
        };
        let state = match end.state {
            State::Whole if !frame.entered => State::Entered,
            State::Open if !frame.entered => State::Inherited,
            state => state,
        };
        if !frame.entered && state != State::Entered && !frame.children {
            return;
        }
        if let Some(below) = task.stack.last_mut() {
            below.inner = below
                .inner
                .saturating_add(end.time.saturating_sub(frame.start).max(0));
            below.children = true;
        }
        self.row(sink, symbols, task, &frame, End { state, ..end });
    }

    /// Add a row for a call that is in no stack any more.
    #[inline]
    pub fn row(
        &mut self,
        sink: &mut Sink,
        symbols: &Symbols,
        task: &Task,
        frame: &Frame,
        end: End,
    ) {
        self.rows += 1;
        match end.state {
            State::Whole => {}
            State::Left | State::Lost => self.left += 1,
            State::Entered => self.entered += 1,
            State::Open | State::Inherited => self.open += 1,
        }
        let dur = end.time.saturating_sub(frame.start);
        if dur < 0 {
            self.backward += 1;
        }
        let dur = dur.max(0);
        let rows = sink.rows(self.table);
        rows.int(call::TS, frame.start);
        rows.int(call::DUR, dur);
        rows.int(call::TID, task.tid);
        rows.int(call::PID, task.pid);
        rows.int(call::DEPTH, i64::from(frame.depth));
        if let Some(function) = symbols.functions.get(frame.function as usize) {
            rows.text(call::NAME, &function.name);
            if let Some(module) = function.module.and_then(|one| symbols.modules.get(one)) {
                rows.text(call::MODULE, module.name.as_bytes());
            }
        }
        rows.int(call::ADDRESS, frame.address.cast_signed());
        rows.int(call::ID, frame.id);
        if let Some(parent) = task.top() {
            rows.int(call::PARENT, parent);
        }
        rows.int(call::SELF, dur.saturating_sub(frame.inner).max(0));
        if let Some(args) = &frame.args {
            rows.text(call::ARGS, args);
        }
        if let Some(result) = end.result {
            rows.text(call::RETVAL, result);
        }
        if let Some(name) = end.state.name() {
            rows.text(call::STATE, name);
        }
        sink.end(self.table);
    }
}

/// The head of an event in a thread.
pub fn head(task: &Task, time: i64, line: i64) -> Head {
    Head {
        time,
        tid: task.tid,
        pid: task.pid,
        line,
        call: task.top(),
    }
}
