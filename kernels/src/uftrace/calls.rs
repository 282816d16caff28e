//! Entries and exits of threads -> rows of calls.

use std::num::NonZeroI64;

use super::events::Head;
use super::symbols::Symbols;
use super::tables::call;
use super::task::{Frame, Task, UNKNOWN};
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
    /// It was open when its process was forked, or when its records began, and was not left.
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

/// Rows of calls of which nothing was recorded: so many are added whatever was read.
const FREE: u64 = 1 << 11;

/// A call that has ended.
struct Row {
    start: i64,
    dur: i64,
    id: i64,
    /// The number of the call that it is in; they begin with 1.
    parent: Option<NonZeroI64>,
    own: i64,
    address: u64,
    /// The number of its thread.
    task: u32,
    function: u32,
    /// The number of the row in the chunk.
    number: u32,
    depth: u16,
}

/// Rows of calls, and how many there were.
#[derive(Default)]
pub struct Calls {
    table: usize,
    /// Rows that are to be put into the table.
    ended: Vec<Row>,
    pub rows: u64,
    pub left: u64,
    pub entered: u64,
    pub open: u64,
    /// Calls that end before they begin.
    pub backward: u64,
    /// Calls of which nothing was recorded.
    nameless: u64,
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
    pub fn close(&mut self, sink: &mut Sink, task: &mut Task, end: End) {
        let Some(frame) = task.stack.pop() else {
            return;
        };
        let state = match end.state {
            state if frame.entered => state,
            State::Whole => State::Entered,
            _ => State::Inherited,
        };
        if state == State::Inherited && !(frame.children && self.may_add(&frame)) {
            return;
        }
        if let Some(below) = task.stack.last_mut() {
            below.inner = below
                .inner
                .saturating_add(end.time.saturating_sub(frame.start).max(0));
            below.children = true;
        }
        self.row(sink, task, &frame, End { state, ..end });
        task.texts.truncate(frame.texts);
    }

    /// Whether there may be a row for a call that nothing was recorded of; depths that damage made up are no reason for many.
    #[cold]
    fn may_add(&mut self, frame: &Frame) -> bool {
        let nameless = frame.function == UNKNOWN;
        let known = self.rows.saturating_sub(self.nameless);
        let may = !nameless || self.nameless < FREE.saturating_add(known);
        self.nameless += u64::from(nameless && may);
        may
    }

    /// Add a row for a call that is in no stack any more.
    #[inline]
    pub fn row(&mut self, sink: &mut Sink, task: &Task, frame: &Frame, end: End) {
        self.rows += 1;
        let dur = end.time.saturating_sub(frame.start);
        if dur < 0 {
            self.backward += 1;
        }
        let dur = dur.max(0);
        let number = sink.claim();
        let args = task.texts.get(frame.texts..).unwrap_or(&[]);
        if end.state != State::Whole || end.result.is_some() || !args.is_empty() {
            self.words(sink, args, end);
        }
        self.ended.push(Row {
            start: frame.start,
            dur,
            id: frame.id,
            parent: task.top().and_then(NonZeroI64::new),
            own: dur.saturating_sub(frame.inner).max(0),
            address: frame.address,
            task: task.number,
            function: frame.function,
            number,
            depth: frame.depth,
        });
    }

    /// What few calls have.
    #[inline(never)]
    fn words(&mut self, sink: &mut Sink, args: &[u8], end: End) {
        let at = self.ended.len();
        let rows = sink.rows(self.table);
        if !args.is_empty() {
            rows.text_of(call::ARGS, at, args);
        }
        if let Some(result) = end.result {
            rows.text_of(call::RETVAL, at, result);
        }
        if let Some(name) = end.state.name() {
            rows.text_of(call::STATE, at, name);
        }
        match end.state {
            State::Whole => {}
            State::Left | State::Lost => self.left += 1,
            State::Entered => self.entered += 1,
            State::Open | State::Inherited => self.open += 1,
        }
    }

    /// Put the rows into their table.
    pub fn flush(&mut self, sink: &mut Sink, symbols: &mut Symbols, tasks: &[Task]) {
        if self.nameless > 0 {
            let nameless = self.ended.iter_mut().filter(|one| one.function == UNKNOWN);
            nameless.for_each(|one| one.function = symbols.nameless());
        }
        let all = self.ended.iter();
        let rows = sink.rows(self.table);
        let task = |number: u32| tasks.get(number as usize);
        let function = |number: u32| symbols.functions.get(number as usize);
        let module = |number| symbols.modules.get(function(number)?.module?);
        rows.ints(call::TS, all.clone().map(|one| one.start));
        rows.ints(call::DUR, all.clone().map(|one| one.dur));
        let tids = all.clone().map(|one| task(one.task).map_or(0, |t| t.tid));
        rows.ints(call::TID, tids);
        let pids = all.clone().map(|one| task(one.task).map_or(0, |t| t.pid));
        rows.ints(call::PID, pids);
        rows.ints(call::DEPTH, all.clone().map(|one| i64::from(one.depth)));
        let functions = all.clone().map(|one| one.function);
        rows.texts(call::NAME, functions.clone(), |number| {
            function(number).map(|one| one.name.as_slice())
        });
        rows.texts(call::MODULE, functions, |number| {
            module(number).map(|one| one.name.as_bytes())
        });
        rows.ints(
            call::ADDRESS,
            all.clone().map(|one| one.address.cast_signed()),
        );
        rows.ints(call::ID, all.clone().map(|one| one.id));
        rows.optional(
            call::PARENT,
            all.clone().map(|one| one.parent.map(NonZeroI64::get)),
        );
        rows.ints(call::SELF, all.clone().map(|one| one.own));
        sink.append(self.table, all.map(|one| one.number));
        self.ended.clear();
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
