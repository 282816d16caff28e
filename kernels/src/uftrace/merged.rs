//! What happened, in the order of time -> rows, with the state of all threads.

use rustc_hash::FxHashMap;

use super::calls::{Calls, End, State, head};
use super::events::{Events, start};
use super::payload::{Payload, Payloads, Place};
use super::record::{self, Record};
use super::setup::Setup;
use super::source::{Kind, Source};
use super::symbols::Symbols;
use super::tables::{self, event};
use super::task::{Frame, Task};
use super::told;
use crate::rows::{Failure, Learnt, Note, Sink, Type};

const INT: Type = Type::Int;

/// How often something was met.
#[derive(Default)]
struct Counts {
    entries: u64,
    exits: u64,
    events: u64,
    /// Records that say that others were lost, and how many.
    losses: u64,
    lost: u64,
    /// Records whose data have no known layout.
    unknown: u64,
    unknown_of: String,
}

/// The state of all threads.
pub struct Merged {
    pub symbols: Symbols,
    payloads: Payloads,
    events: Events,
    calls: Calls,
    pub(super) tasks: Vec<Task>,
    pub(super) numbers: FxHashMap<i64, usize>,
    /// How many things happened.
    line: i64,
    first: Option<i64>,
    counts: Counts,
    /// Text of arguments that are being read.
    text: Vec<u8>,
    big: bool,
}

impl Merged {
    pub fn new(sink: &mut Sink, setup: &mut Setup) -> Merged {
        let mut sessions: FxHashMap<i64, Vec<(i64, usize)>> =
            std::mem::take(&mut setup.sessions_of).into_iter().collect();
        let tasks = setup.tasks.iter().map(|one| {
            let sessions = sessions.remove(&one.tid).unwrap_or_default();
            Task::new(one.tid, one.pid, one.ppid, sessions)
        });
        let tasks: Vec<Task> = tasks.collect();
        Merged {
            numbers: tasks
                .iter()
                .enumerate()
                .map(|(at, one)| (one.tid, at))
                .collect(),
            symbols: Symbols::new(setup),
            payloads: Payloads::new(setup),
            events: Events::new(
                std::mem::take(&mut setup.events),
                setup.big_endian,
                setup.wide,
            ),
            calls: Calls::new(tables::calls(sink)),
            tasks,
            line: 0,
            first: None,
            counts: Counts::default(),
            text: Vec::new(),
            big: setup.big_endian,
        }
    }

    #[inline]
    pub(super) fn next_line(&mut self, time: i64) -> i64 {
        if self.first.is_none_or(|first| time < first) {
            self.first = Some(time);
        }
        self.line += 1;
        self.line
    }

    /// A record of a thread, which is at the head of its file.
    #[inline]
    pub fn record(
        &mut self,
        sink: &mut Sink,
        source: &mut Source,
        record: &Record,
    ) -> Result<(), Failure> {
        let Kind::Task(number) = source.kind else {
            return Ok(());
        };
        if record.kind == record::LOST {
            source.feed.take(record::BYTES);
            self.lost(sink, number, record);
            return Ok(());
        }
        if let Some(task) = self.tasks.get_mut(number) {
            task.seen(record.time);
            if !task.begun {
                self.begin(number, record);
            }
        }
        let line = self.next_line(record.time);
        if number >= self.tasks.len() {
            source.feed.take(record::BYTES);
            return Ok(());
        }
        match record.kind {
            record::ENTRY => self.entry(sink, source, record, number, line),
            record::EXIT => self.exit(sink, source, record, number, line),
            _ => self.event(sink, source, record, number, line),
        }
    }

    /// The first record of a thread: calls that were open when it was forked are open in it.
    #[cold]
    fn begin(&mut self, number: usize, record: &Record) {
        let line = &mut self.line;
        let Some(task) = self.tasks.get(number) else {
            return;
        };
        let since = task.since.unwrap_or(record.time);
        let parent = task.ppid.and_then(|ppid| self.numbers.get(&ppid));
        let parent = parent.and_then(|at| self.tasks.get(*at));
        let stack = parent.map(|one| {
            one.stack
                .iter()
                .take_while(|frame| frame.depth < record.depth)
        });
        let stack = stack.into_iter().flatten().map(|frame| {
            *line += 1;
            Frame {
                start: since,
                id: *line,
                entered: false,
                children: false,
                inner: 0,
                args: None,
                ..*frame
            }
        });
        let stack = if record.kind == record::EVENT {
            Vec::new()
        } else {
            stack.collect()
        };
        if let Some(task) = self.tasks.get_mut(number) {
            task.begun = record.kind != record::EVENT;
            if task.begun {
                task.stack = stack;
            }
        }
    }

    #[inline]
    fn entry(
        &mut self,
        sink: &mut Sink,
        source: &mut Source,
        record: &Record,
        number: usize,
        line: i64,
    ) -> Result<(), Failure> {
        self.counts.entries += 1;
        let Some(task) = self.tasks.get_mut(number) else {
            return Ok(());
        };
        let session = task.session(record.time);
        let function = self.symbols.function(session, record.address, record.time);
        while task
            .stack
            .last()
            .is_some_and(|top| top.depth >= record.depth)
        {
            self.calls.close(
                sink,
                &self.symbols,
                task,
                End::missing(record.time, State::Left),
            );
        }
        let mut args = None;
        if record.more {
            let found = self.payload(source, record, session, function, false)?;
            args = found.then(|| self.text.as_slice().into());
        } else {
            source.feed.take(record::BYTES);
        }
        if let Some(task) = self.tasks.get_mut(number) {
            task.stack.push(Frame {
                start: record.time,
                address: record.address,
                id: line,
                function,
                depth: record.depth,
                entered: true,
                children: false,
                inner: 0,
                args,
            });
        }
        Ok(())
    }

    #[inline]
    fn exit(
        &mut self,
        sink: &mut Sink,
        source: &mut Source,
        record: &Record,
        number: usize,
        line: i64,
    ) -> Result<(), Failure> {
        self.counts.exits += 1;
        let mut whole = false;
        let mut function = None;
        let mut session = 0;
        let mut slot = None;
        if let Some(task) = self.tasks.get_mut(number) {
            whole = task.leaves(record);
            while !whole
                && task
                    .stack
                    .last()
                    .is_some_and(|top| top.depth >= record.depth)
            {
                let top = task.stack.last();
                slot = top
                    .filter(|top| top.depth == record.depth)
                    .map(|top| top.start);
                self.calls.close(
                    sink,
                    &self.symbols,
                    task,
                    End::missing(record.time, State::Left),
                );
                whole = slot.is_none() && task.leaves(record);
            }
            session = task.session(record.time);
            function = task.stack.last().filter(|_| whole).map(|top| top.function);
        }
        let function =
            function.unwrap_or_else(|| self.symbols.function(session, record.address, record.time));
        let mut found = false;
        if record.more {
            found = self.payload(source, record, session, function, true)?;
        } else {
            source.feed.take(record::BYTES);
        }
        let end = End {
            time: record.time,
            state: if whole { State::Whole } else { State::Entered },
            result: found.then_some(self.text.as_slice()),
        };
        let Some(task) = self.tasks.get_mut(number) else {
            return Ok(());
        };
        if whole {
            self.calls.close(sink, &self.symbols, task, end);
            return Ok(());
        }
        let since = task.since.unwrap_or(record.time);
        let below = task
            .stack
            .last()
            .map_or(since, |below| below.start.max(since));
        let frame = Frame {
            start: slot.unwrap_or(below).min(record.time),
            address: record.address,
            id: line,
            function,
            depth: record.depth,
            entered: false,
            children: false,
            inner: 0,
            args: None,
        };
        if slot.is_none()
            && let Some(below) = task.stack.last_mut()
        {
            below.children = true;
        }
        self.calls.row(sink, &self.symbols, task, &frame, end);
        Ok(())
    }

    /// Read the data behind a record, and take both; whether there is text now.
    #[cold]
    #[inline(never)]
    fn payload(
        &mut self,
        source: &mut Source,
        record: &Record,
        session: usize,
        function: u32,
        result: bool,
    ) -> Result<bool, Failure> {
        let place = self
            .symbols
            .functions
            .get(function as usize)
            .map(|one| Place {
                session,
                module: one.module.unwrap_or(usize::MAX),
                address: one.address,
            });
        let found = match place {
            None => Payload::Unknown,
            Some(place) => self.payloads.read(
                &mut source.feed,
                &self.symbols,
                &place,
                result,
                &mut self.text,
            )?,
        };
        match found {
            Payload::Text(length) => {
                source.take(record::BYTES + length)?;
                if !result {
                    self.text.insert(0, b'(');
                    self.text.push(b')');
                }
                Ok(true)
            }
            Payload::Cut => source.cut_off().map(|()| false),
            Payload::Unknown => {
                self.counts.unknown += 1;
                if self.counts.unknown == 1
                    && let Some(one) = self.symbols.functions.get(function as usize)
                {
                    self.counts.unknown_of = String::from_utf8_lossy(&one.name).into_owned();
                }
                let length = source.skip(record)?;
                source.feed.take(record::BYTES + length);
                Ok(false)
            }
        }
    }

    fn event(
        &mut self,
        sink: &mut Sink,
        source: &mut Source,
        record: &Record,
        number: usize,
        line: i64,
    ) -> Result<(), Failure> {
        self.counts.events += 1;
        let mut length = 0;
        let mut room = 0;
        if record.more {
            let bytes = source.feed.view(record::BYTES + 2)?;
            length =
                super::record::number(bytes.get(record::BYTES..).unwrap_or(&[]), self.big) as usize;
            room = (length + 2).next_multiple_of(8);
        }
        let bytes = source.feed.view(record::BYTES + room)?;
        if bytes.len() < record::BYTES + room {
            return source.cut_off();
        }
        let begin = record::BYTES + room.min(2);
        let data = bytes.get(begin..begin + length).unwrap_or(&[]);
        if let Some(task) = self.tasks.get_mut(number) {
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
        source.feed.take(record::BYTES + room);
        Ok(())
    }

    /// Records of a thread were lost: what was open ends where it was last seen.
    fn lost(&mut self, sink: &mut Sink, number: usize, record: &Record) {
        self.counts.losses += 1;
        self.counts.lost = self.counts.lost.saturating_add(record.address);
        let Some(task) = self.tasks.get_mut(number) else {
            return;
        };
        let known = task.last.or((record.time > 0).then_some(record.time));
        let Some(time) = known.or(self.first) else {
            return;
        };
        while !task.stack.is_empty() {
            self.calls
                .close(sink, &self.symbols, task, End::missing(time, State::Lost));
        }
        task.since = None;
        task.begun = true;
        self.line += 1;
        let table = tables::events(sink, "lost", &[("count", INT, "")]);
        let rows = sink.rows(table);
        start(rows, &head(task, time, self.line));
        rows.int(event::FIELDS, record.address.cast_signed());
        sink.end(table);
    }

    /// What is open ends when its thread was last seen.
    pub fn finish(&mut self, sink: &mut Sink) {
        for task in &mut self.tasks {
            if let Some(off) = task.off.take() {
                told::out(sink, task, &off);
            }
            let Some(end) = task.last else { continue };
            while !task.stack.is_empty() {
                self.calls
                    .close(sink, &self.symbols, task, End::missing(end, State::Open));
            }
        }
    }

    /// What was counted.
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
        if let (Some(offset), Some(first)) = (utc_offset, self.first)
            && let Some(start) = first.checked_add(offset)
        {
            learnt
                .properties
                .push(("start_unix_ns".to_owned(), start.to_string()));
        }
        let example = format!("{} times", counts.losses);
        for (reason, count, example, incomplete) in [
            ("records lost", counts.lost, example.as_str(), true),
            (
                "data of unknown layout",
                counts.unknown,
                counts.unknown_of.as_str(),
                false,
            ),
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
