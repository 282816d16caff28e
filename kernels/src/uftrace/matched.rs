//! Match the entries and exits of a thread into calls.

use super::calls::{CallEnd, End};
use super::merged::{Data, Merged};
use super::payload::Payload;
use super::record::{self, Record};
use super::source::RecordFile;
use super::task::{Frame, NO_SLOT, UNKNOWN};
use crate::rows::Failure;

impl Merged {
    /// Handle the first records of a thread, or the first after a loss.
    ///
    /// The kernel may have records of a thread before its own. They belong to the calls that the thread is within, which
    /// its first own record of a call tells.
    #[cold]
    #[inline(never)]
    pub(super) fn begin(&mut self, number: usize, time: i64) {
        let Some(task) = self.tasks.get_mut(number) else {
            return;
        };
        let since = *task.since.get_or_insert(time);
        let first = task.first.filter(|_| !task.begun);
        if let Some(first) = first {
            let ppid = task.ppid;
            let stack = self.inherited(ppid, since, first.depth);
            if let Some(task) = self.tasks.get_mut(number) {
                task.stack = stack;
                task.begun = true;
                if first.kind == record::EXIT {
                    self.line = task.called(first.depth.saturating_add(1), since, self.line + 1) - 1;
                }
            }
        }
        if let Some(task) = self.tasks.get_mut(number) {
            task.steady = task.begun;
        }
    }

    /// Calls that were open when a thread was forked are open in the new thread.
    fn inherited(&mut self, ppid: Option<i64>, since: i64, depth: u16) -> Vec<Frame> {
        let parent = ppid.and_then(|ppid| self.numbers.get(&ppid));
        let parent = parent.and_then(|at| self.tasks.get(*at));
        let stack = parent.map_or(&[][..], |one| one.stack.as_slice());
        let stack = stack.iter().take_while(|frame| frame.depth < depth);
        let line = &mut self.line;
        let stack = stack.map(|frame| {
            *line += 1;
            Frame {
                start: since,
                id: *line,
                slot: NO_SLOT,
                entered: false,
                children: false,
                inner: 0,
                texts: 0,
                ..*frame
            }
        });
        stack.collect()
    }

    #[inline(always)]
    pub(super) fn entry(&mut self, data: Data, record: &Record, number: usize, mut line: i64) -> Result<(), Failure> {
        self.counts.entries += 1;
        let Some(task) = self.tasks.get_mut(number) else {
            return Ok(());
        };
        let session = task.session(record.time);
        let function = self.symbols.function(session, record.address, record.time);
        if task.within() != record.depth {
            line = self.calls.place(task, record, line);
            self.line = line;
        }
        self.calls.enter(task, record, line, function);
        let Some(source) = data else {
            return Ok(());
        };
        if self.payload(source, record, session, function)?
            && let Some(task) = self.tasks.get_mut(number)
        {
            task.texts.extend_from_slice(&self.text);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn exit(&mut self, data: Data, record: &Record, number: usize, line: i64) -> Result<(), Failure> {
        self.counts.exits += 1;
        let Some(task) = self.tasks.get_mut(number) else {
            return Ok(());
        };
        let session = task.session(record.time);
        if !task.leaves(record) {
            return self.odd_exit(data, record, (number, session, line));
        }
        let mut end = End { time: record.time, state: CallEnd::Whole, result: None };
        let Some(source) = data else {
            self.calls.leave(task, end);
            return Ok(());
        };
        let function = task.stack.last().map_or(u32::MAX, |top| top.function);
        if self.payload(source, record, session, function)? {
            end.result = Some(&self.text);
        }
        if let Some(task) = self.tasks.get_mut(number) {
            self.calls.close(task, end);
        }
        Ok(())
    }

    /// Handle an exit that does not match the newest call.
    #[cold]
    #[inline(never)]
    fn odd_exit(
        &mut self,
        data: Data,
        record: &Record,
        (number, session, mut line): (usize, usize, i64),
    ) -> Result<(), Failure> {
        let mut whole = false;
        let mut function = None;
        let mut slot = None;
        if let Some(task) = self.tasks.get_mut(number) {
            while !whole
                && let Some(top) = task.stack.last_mut()
                && top.depth >= record.depth
            {
                let own = top.depth == record.depth;
                if own && top.function == UNKNOWN {
                    top.function = self.symbols.function(session, record.address, record.time);
                    top.address = record.address;
                    whole = true;
                    break;
                }
                slot = own.then_some(top.start);
                self.calls.close(task, End::missing(record.time, CallEnd::Left));
                whole = slot.is_none() && task.leaves(record);
            }
            function = task.stack.last().filter(|_| whole).map(|top| top.function);
        }
        let function = function.unwrap_or_else(|| self.symbols.function(session, record.address, record.time));
        let found = match data {
            Some(source) => self.payload(source, record, session, function)?,
            None => false,
        };
        let end = End {
            time: record.time,
            state: if whole { CallEnd::Whole } else { CallEnd::Entered },
            result: found.then_some(self.text.as_slice()),
        };
        let Some(task) = self.tasks.get_mut(number) else {
            return Ok(());
        };
        if whole {
            self.calls.close(task, end);
            return Ok(());
        }
        let since = task.since.unwrap_or(record.time);
        let below = task.stack.last().map_or(since, |below| below.start.max(since));
        let start = slot.unwrap_or(below).min(record.time);
        if task.within() < record.depth {
            line = task.called(record.depth, start, line);
            self.line = line;
        }
        let frame = Frame {
            start,
            address: record.address,
            id: line,
            function,
            depth: record.depth,
            slot: NO_SLOT,
            entered: false,
            children: false,
            inner: 0,
            texts: task.texts.len(),
        };
        if slot.is_none()
            && let Some(below) = task.stack.last_mut()
        {
            below.children = true;
            below.inner = below.inner.max(record.time.saturating_sub(start));
        }
        self.calls.row(task, &frame, end);
        Ok(())
    }

    /// Read the data after a record, and consume both; returns whether there is text now.
    #[inline(never)]
    fn payload(
        &mut self,
        source: &mut RecordFile,
        record: &Record,
        session: usize,
        function: u32,
    ) -> Result<bool, Failure> {
        let result = record.kind == record::EXIT;
        let found = self.payloads.read(&mut source.feed, &self.symbols, (session, function), result, &mut self.text)?;
        match found {
            Payload::Text(length) => source.take(record::BYTES + length).map(|()| true),
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
}
