//! Convert records in time order into rows, and keep the state of all threads.

use rustc_hash::FxHashMap;

use super::calls::{CallEnd, Calls, End, head};
use super::events::{Events, start};
use super::kernel_events;
use super::payload::Payloads;
use super::record::{self, Record};
use super::setup::Setup;
use super::source::{Kind, RecordFile};
use super::symbols::Symbols;
use super::tables::{self, event};
use super::task::Task;
use crate::input::bytes::number_of;
use crate::rows::{Failure, Learnt, Note, Sink, Type};

const INT: Type = Type::Int;

/// The file of a record, if the record has data.
pub(super) type Data<'a> = Option<&'a mut RecordFile>;

/// Skip a record without a meaning of its own.
fn skip(data: Data) -> Result<(), Failure> {
    if let Some(source) = data {
        source.feed.take(record::BYTES);
    }
    Ok(())
}

/// Counts of special records.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) entries: u64,
    pub(super) exits: u64,
    events: u64,
    /// Records of losses, and the number of lost records.
    losses: u64,
    lost: u64,
    /// Records with data of unknown layout.
    pub(super) unknown: u64,
    pub(super) unknown_of: String,
}

/// The state of all threads.
pub struct Merged {
    pub symbols: Symbols,
    pub(super) payloads: Payloads,
    events: Events,
    pub(super) calls: Calls,
    pub(super) tasks: Vec<Task>,
    pub(super) numbers: FxHashMap<i64, usize>,
    /// The number of items so far.
    pub(super) line: i64,
    /// The earliest time; `i64::MAX` if there is none.
    first: i64,
    pub(super) counts: Counts,
    /// Text of arguments that are being read.
    pub(super) text: Vec<u8>,
    big: bool,
}

impl Merged {
    pub fn new(sink: &mut Sink, setup: &mut Setup) -> Merged {
        let mut sessions: FxHashMap<i64, Vec<(i64, usize)>> =
            std::mem::take(&mut setup.sessions_of).into_iter().collect();
        let tasks = setup.tasks.iter().enumerate().map(|(number, one)| {
            let sessions = sessions.remove(&one.tid).unwrap_or_default();
            Task::new(number as u32, (one.tid, one.pid), one.ppid, sessions)
        });
        let tasks: Vec<Task> = tasks.collect();
        Merged {
            numbers: tasks.iter().enumerate().map(|(at, one)| (one.tid, at)).collect(),
            symbols: Symbols::new(setup),
            payloads: Payloads::new(setup),
            events: Events::new(std::mem::take(&mut setup.events), setup.big_endian, setup.wide),
            calls: Calls::new(tables::calls(sink)),
            tasks,
            line: 0,
            first: i64::MAX,
            counts: Counts::default(),
            text: Vec::new(),
            big: setup.big_endian,
        }
    }

    #[inline]
    pub(super) fn next_line(&mut self, time: i64) -> i64 {
        self.first = self.first.min(time);
        self.line += 1;
        self.line
    }

    /// Handle a record of a thread, which was consumed; if it has data, it is still at the head of its file.
    #[inline(always)]
    pub fn record(&mut self, sink: &mut Sink, kind: Kind, record: &Record, data: Data) -> Result<(), Failure> {
        let Kind::Task(number) = kind else {
            return Ok(());
        };
        if record.kind == record::LOST {
            return self.lost(sink, number, record, data);
        }
        let Some(task) = self.tasks.get_mut(number) else {
            return skip(data);
        };
        task.last_at(record.time);
        if !task.steady {
            if record.kind != record::EVENT {
                task.first.get_or_insert(*record);
            }
            self.begin(number, record.time);
        }
        let line = self.next_line(record.time);
        match record.kind {
            record::ENTRY => self.entry(data, record, number, line),
            record::EXIT => self.exit(data, record, number, line),
            _ => self.event(sink, data, record, number, line),
        }
    }

    #[inline(never)]
    fn event(&mut self, sink: &mut Sink, data: Data, record: &Record, number: usize, line: i64) -> Result<(), Failure> {
        self.counts.events += 1;
        let Some(source) = data else {
            self.add_event(sink, record, number, line, &[]);
            return Ok(());
        };
        let bytes = source.feed.view(record::BYTES + 2)?;
        let length = bytes.get(record::BYTES..).unwrap_or(&[]);
        let length = number_of(length, self.big) as usize;
        let whole = record::event_bytes(length);
        let bytes = source.feed.view(whole)?;
        if bytes.len() < whole {
            return source.cut_off();
        }
        let begin = record::BYTES + 2;
        let bytes = bytes.get(begin..begin + length).unwrap_or(&[]);
        self.add_event(sink, record, number, line, bytes);
        source.feed.take(whole);
        Ok(())
    }

    fn add_event(&mut self, sink: &mut Sink, record: &Record, number: usize, line: i64, data: &[u8]) {
        let Some(task) = self.tasks.get_mut(number) else {
            return;
        };
        let session = task.session(record.time);
        let head = head(task, record.time, line);
        let symbols = &self.symbols;
        let variable = |address| {
            let (module, symbol) = symbols.find(session, address)?;
            let found = symbols.modules.get(module)?.symbols.get(symbol)?;
            Some(found.name.clone())
        };
        self.events.add(sink, &head, record.address, data, variable);
    }

    /// Handle a loss of records of a thread: its open calls end at its last record.
    #[cold]
    #[inline(never)]
    fn lost(&mut self, sink: &mut Sink, number: usize, record: &Record, data: Data) -> Result<(), Failure> {
        self.counts.losses += 1;
        self.counts.lost = self.counts.lost.saturating_add(record.address);
        let Some(task) = self.tasks.get_mut(number) else {
            return skip(data);
        };
        let known = task.last().or((record.time > 0).then_some(record.time));
        let first = (self.first < i64::MAX).then_some(self.first);
        let Some(time) = known.or(first) else {
            return skip(data);
        };
        while !task.stack.is_empty() {
            self.calls.close(task, End::missing(time, CallEnd::Lost));
        }
        task.since = None;
        task.begun = true;
        task.steady = false;
        self.line += 1;
        let table = tables::events(sink, "lost", &[("count", INT, "")]);
        let rows = sink.rows(table);
        start(rows, &head(task, time, self.line));
        rows.int(event::FIELDS, record.address.cast_signed());
        sink.end(table);
        skip(data)
    }

    /// End open calls at the last record of their threads.
    pub fn finish(&mut self, sink: &mut Sink) {
        for task in &mut self.tasks {
            if let Some(off) = task.off.take() {
                kernel_events::out(sink, task, &off);
            }
            let Some(end) = task.last() else { continue };
            while !task.stack.is_empty() {
                self.calls.close(task, End::missing(end, CallEnd::Open));
            }
        }
        self.flush(sink);
    }

    /// Put completed calls into their table.
    pub fn flush(&mut self, sink: &mut Sink) {
        self.calls.flush(sink, &mut self.symbols, &self.tasks);
    }

    /// Report the counts.
    pub fn learnt(&mut self, learnt: &mut Learnt, utc_offset: Option<i64>) {
        let counts = &self.counts;
        let calls = &self.calls;
        for (name, count) in [
            ("entries", counts.entries),
            ("exits", counts.exits),
            ("calls", calls.rows),
            ("tasks", self.tasks.len() as u64),
        ] {
            learnt.properties.push((name.to_owned(), count.to_string()));
        }
        if let Some(offset) = utc_offset
            && self.first < i64::MAX
            && let Some(start) = self.first.checked_add(offset)
        {
            learnt.properties.push(("start_unix_ns".to_owned(), start.to_string()));
        }
        let example = format!("{} times", counts.losses);
        for (reason, count, example, incomplete) in [
            ("records lost", counts.lost, example.as_str(), true),
            ("data of unknown layout", counts.unknown, counts.unknown_of.as_str(), false),
            ("calls were still open at the end", calls.open, "", false),
            ("calls were left without an exit", calls.left, "", false),
            ("exits have no entry", calls.entered, "", false),
            ("calls end before they begin", calls.backward, "", false),
        ] {
            if count > 0 {
                learnt.notes.push(Note {
                    reason: reason.to_owned(),
                    count,
                    example: example.to_owned(),
                    incomplete,
                    ..Note::default()
                });
            }
        }
    }
}
