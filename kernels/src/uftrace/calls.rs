//! Convert entries and exits of threads into rows of calls.

use std::num::NonZeroI64;

use super::events::Head;
use super::record::Record;
use super::symbols::Symbols;
use super::tables::call;
use super::task::{Frame, NO_SLOT, Task, UNKNOWN};
use crate::rows::{RowColumn, Rows, Sink};

/// How a call ended, other than by its recorded exit after its recorded entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    Whole,
    /// It was still open when the recording ended.
    Open,
    /// It was never left: because of `longjmp`, an exception or `exec`.
    Left,
    /// Records were lost while it was open.
    Lost,
    /// Its entry was not recorded.
    Entered,
    /// It was open when its process was forked, or when its records began, and did not return.
    Inherited,
}

impl CallEnd {
    fn name(self) -> Option<&'static [u8]> {
        match self {
            CallEnd::Whole => None,
            CallEnd::Open => Some(b"open"),
            CallEnd::Left => Some(b"left"),
            CallEnd::Lost => Some(b"lost"),
            CallEnd::Entered => Some(b"entered"),
            CallEnd::Inherited => Some(b"inherited"),
        }
    }
}

/// The time and state of the end of a call, and the text of its result.
#[derive(Clone, Copy)]
pub struct End<'a> {
    pub time: i64,
    pub state: CallEnd,
    pub result: Option<&'a [u8]>,
}

impl End<'_> {
    /// An end that was not recorded.
    pub fn missing(time: i64, state: CallEnd) -> End<'static> {
        End { time, state, result: None }
    }
}

/// Rows of calls without any records: at least this many may be added.
const FREE: u64 = 1 << 11;
/// Calls, and bytes of their texts, that are put into their table at once: as many as fit in caches and in a chunk.
const BLOCK_ROWS: usize = 3840;
const BLOCK_BYTES: usize = 1 << 20;
/// Approximate bytes of a row, without texts.
const ROW_BYTES: usize = 80;
/// The duration of a call that has not been left.
const OPEN: i64 = -1;

/// A call.
struct Row {
    start: i64,
    dur: i64,
    id: i64,
    /// The number of its parent; numbers begin with 1.
    parent: Option<NonZeroI64>,
    own: i64,
    address: u64,
    /// The number of its thread.
    task: u32,
    function: u32,
    /// The number of its words, from 1; 0 means none.
    words: u32,
    depth: u16,
}

/// Data of few calls: texts, given by their ends, and the state of the call's end.
struct Words {
    args: usize,
    result: Option<usize>,
    state: CallEnd,
}

/// Rows of calls, and their number.
///
/// A row is started when its call is entered, so rows are almost in order of time. Rows still open when the others are
/// put into their table are started again when the call is left.
#[derive(Default)]
pub struct Calls {
    table: usize,
    /// The started rows, and the slot of the first.
    begun: Vec<Row>,
    first: u64,
    /// Rows started when the call is left.
    late: Vec<Row>,
    words: Vec<Words>,
    texts: Vec<u8>,
    pub rows: u64,
    pub left: u64,
    pub entered: u64,
    pub open: u64,
    /// Number of calls that end before they begin.
    pub backward: u64,
    /// Number of calls without any records.
    nameless: u64,
}

impl Calls {
    pub fn new(table: usize) -> Calls {
        Calls { table, first: NO_SLOT + 1, ..Calls::default() }
    }

    /// Prepare the stack of a thread for the entry of a call: deeper calls have been left, and missing ones are
    /// unknown. Returns the number for the call.
    #[cold]
    #[inline(never)]
    pub fn place(&mut self, task: &mut Task, record: &Record, line: i64) -> i64 {
        let deep = |task: &Task| task.stack.last().is_some_and(|top| top.depth >= record.depth);
        while deep(task) {
            self.close(task, End::missing(record.time, CallEnd::Left));
        }
        if task.within() < record.depth {
            return task.called(record.depth, record.time, line);
        }
        line
    }

    /// Push a call onto the stack of its thread, and start its row.
    #[inline]
    pub fn enter(&mut self, task: &mut Task, record: &Record, id: i64, function: u32) {
        self.begun.push(Row {
            start: record.time,
            dur: OPEN,
            id,
            parent: task.top().and_then(NonZeroI64::new),
            own: 0,
            address: record.address,
            task: task.number,
            function,
            words: 0,
            depth: record.depth,
        });
        task.stack.push(Frame {
            start: record.time,
            address: record.address,
            id,
            slot: self.first + (self.begun.len() - 1) as u64,
            function,
            depth: record.depth,
            entered: true,
            children: false,
            inner: 0,
            texts: task.texts.len(),
        });
    }

    /// Pop the newest call off a thread's stack.
    #[inline(never)]
    pub fn close(&mut self, task: &mut Task, end: End) {
        self.leave(task, end);
    }

    /// The same for the most frequent case.
    #[inline(always)]
    pub fn leave(&mut self, task: &mut Task, end: End) {
        let Some(frame) = task.stack.pop() else {
            return;
        };
        let state = match end.state {
            state if frame.entered => state,
            CallEnd::Whole => CallEnd::Entered,
            _ => CallEnd::Inherited,
        };
        if state == CallEnd::Inherited && !(frame.children && self.may_add(&frame)) {
            return;
        }
        if let Some(below) = task.stack.last_mut() {
            below.inner = below.inner.saturating_add(frame.lasts(end.time).max(0));
            below.children = true;
        }
        self.row(task, &frame, End { state, ..end });
        if frame.texts < task.texts.len() {
            task.texts.truncate(frame.texts);
        }
    }

    /// Whether a row for a call without any records is allowed; this limits rows made from damaged depths.
    #[cold]
    fn may_add(&mut self, frame: &Frame) -> bool {
        let nameless = frame.function == UNKNOWN;
        let known = self.rows.saturating_sub(self.nameless);
        let may = !nameless || self.nameless < FREE.saturating_add(known);
        self.nameless += u64::from(nameless && may);
        may
    }

    /// End the row of a call that has been popped.
    #[inline(always)]
    pub fn row(&mut self, task: &Task, frame: &Frame, end: End) {
        self.rows += 1;
        let dur = frame.lasts(end.time);
        self.backward += u64::from(dur < 0);
        let dur = dur.max(0);
        let own = dur.saturating_sub(frame.inner).max(0);
        let args = task.texts.get(frame.texts..).unwrap_or(&[]);
        let mut words = 0;
        if end.state != CallEnd::Whole || end.result.is_some() || !args.is_empty() {
            words = self.add_words(args, end);
        }
        let slot = frame.slot.wrapping_sub(self.first);
        if let Some(row) = self.begun.get_mut(slot as usize) {
            row.dur = dur;
            row.own = own;
            row.words = words;
            return;
        }
        self.late.push(Row {
            start: frame.start,
            dur,
            id: frame.id,
            parent: task.top().and_then(NonZeroI64::new),
            own,
            address: frame.address,
            task: task.number,
            function: frame.function,
            words,
            depth: frame.depth,
        });
    }

    /// Data of few calls; returns its number, from 1.
    #[inline(never)]
    fn add_words(&mut self, args: &[u8], end: End) -> u32 {
        match end.state {
            CallEnd::Whole => {}
            CallEnd::Left | CallEnd::Lost => self.left += 1,
            CallEnd::Entered => self.entered += 1,
            CallEnd::Open | CallEnd::Inherited => self.open += 1,
        }
        self.texts.extend_from_slice(args);
        let args = self.texts.len();
        let result = end.result.map(|result| {
            self.texts.extend_from_slice(result);
            self.texts.len()
        });
        self.words.push(Words { args, result, state: end.state });
        self.words.len() as u32
    }

    /// Whether there are enough rows to put them into their table.
    pub fn full(&self) -> bool {
        self.begun.len() + self.late.len() >= BLOCK_ROWS || self.texts.len() >= BLOCK_BYTES
    }

    /// Put the rows of completed calls into their table.
    pub fn flush(&mut self, sink: &mut Sink, symbols: &mut Symbols, tasks: &[Task]) {
        self.first += self.begun.len() as u64;
        self.begun.retain(|one| one.dur != OPEN);
        self.begun.append(&mut self.late);
        if self.nameless > 0 {
            let nameless = self.begun.iter_mut().filter(|one| one.function == UNKNOWN);
            nameless.for_each(|one| one.function = symbols.nameless());
        }
        let all = self.begun.iter();
        let rows = sink.rows(self.table);
        let task = |number: u32| tasks.get(number as usize);
        let function = |number: u32| symbols.functions.get(number as usize);
        let module = |number| symbols.modules.get(function(number)?.module?);
        rows.ints(call::TS, all.clone().map(|one| one.start));
        rows.ints(call::DUR, all.clone().map(|one| one.dur));
        rows.ints(call::TID, all.clone().map(|one| task(one.task).map_or(0, |task| task.tid)));
        rows.ints(call::PID, all.clone().map(|one| task(one.task).map_or(0, |task| task.pid)));
        rows.ints(call::DEPTH, all.clone().map(|one| i64::from(one.depth)));
        let names = all.clone().map(|one| Some((one.function, &function(one.function)?.name)));
        rows.each(call::NAME, names, |column, (number, name)| column.numbered(number as usize, || name));
        let modules = all.clone().map(|one| Some((one.function, &module(one.function)?.name)));
        rows.each(call::MODULE, modules, |column, (number, name)| column.numbered(number as usize, || name));
        rows.ints(call::ADDRESS, all.clone().map(|one| one.address.cast_signed()));
        rows.ints(call::ID, all.clone().map(|one| one.id));
        rows.each(call::PARENT, all.clone().map(|one| one.parent.map(NonZeroI64::get)), RowColumn::int);
        rows.ints(call::SELF, all.map(|one| one.own));
        self.spell(rows);
        sink.append(self.table, self.begun.len(), self.begun.len() * ROW_BYTES + self.texts.len());
        self.begun.clear();
        self.words.clear();
        self.texts.clear();
    }

    /// Put the words of rows into their table.
    fn spell(&self, rows: &mut Rows) {
        let words = |row: &Row| {
            let number = (row.words as usize).checked_sub(1)?;
            let before = number.checked_sub(1).and_then(|one| self.words.get(one));
            Some((before.map_or(0, |one| one.result.unwrap_or(one.args)), self.words.get(number)?))
        };
        let text = |from, to| self.texts.get(from..to).unwrap_or(&[]);
        let each = self.begun.iter().map(words);
        let args = each.clone().map(|one| one.filter(|(begin, words)| *begin < words.args));
        let args = args.map(|one| one.map(|(begin, words)| text(begin, words.args)));
        rows.each(call::ARGS, args, RowColumn::text);
        let results = each.clone().map(|one| one.and_then(|(_, words)| Some(text(words.args, words.result?))));
        rows.each(call::RETVAL, results, RowColumn::text);
        rows.each(call::STATE, each.map(|one| one.and_then(|(_, words)| words.state.name())), RowColumn::text);
    }
}

/// The head of an event in a thread.
pub fn head(task: &Task, time: i64, line: i64) -> Head {
    Head { time, tid: task.tid, pid: task.pid, line, call: task.top() }
}
