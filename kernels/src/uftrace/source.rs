//! Read the next item of one file of a data directory.

use super::external::{self, Line};
use super::feed::Feed;
use super::perf::{self, Happened, Perf};
use super::record::{self, Record};
use crate::input::bytes::number_of;
use crate::rows::{Failure, Note};

/// Bytes to search for a next record after invalid ones.
const SEARCH: usize = 1 << 16;
/// Maximum time between a record with unknown data and the next one.
const NEAR_NS: i64 = 1 << 42;

/// The type of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Task(usize),
    Perf(i64),
    Extern,
}

/// An item that is not a record of a thread.
pub enum SideRecord {
    Perf(Happened),
    Message(i64, Vec<u8>),
}

/// A file, and its next item.
pub struct RecordFile {
    pub kind: Kind,
    pub file: u32,
    pub feed: Feed,
    /// Whether a record is next: it is still at the head of the feed.
    recorded: bool,
    /// The next item, if it is not a record.
    pub note: Option<SideRecord>,
    big: bool,
    /// Bytes outside of records.
    bad: u64,
    bad_at: u64,
    cut: u64,
    /// Records of other kinds, and the kind of the first.
    other: (u64, u32),
    pub lost: u64,
    bad_lines: (u64, String),
}

impl RecordFile {
    pub fn new(kind: Kind, file: u32, feed: Feed, big: bool) -> RecordFile {
        RecordFile {
            kind,
            file,
            feed,
            recorded: false,
            note: None,
            big,
            bad: 0,
            bad_at: 0,
            cut: 0,
            other: (0, 0),
            lost: 0,
            bad_lines: (0, String::new()),
        }
    }

    /// The next item, if it is a record.
    pub fn record(&self) -> Option<Record> {
        let head = self.feed.head().filter(|_| self.recorded)?;
        Record::parse(head, self.big)
    }

    /// The time of the next item; None at the end.
    pub fn time(&self) -> Option<i64> {
        match &self.note {
            Some(SideRecord::Perf(happened)) => Some(happened.time),
            Some(SideRecord::Message(time, _)) => Some(*time),
            None => self.record().map(|record| record.time),
        }
    }

    /// Look ahead for the next record of a call, which events may precede; None if there is something else.
    pub fn first_call(&mut self) -> Result<Option<Record>, Failure> {
        let big = self.big;
        let mut at = 0;
        while at < SEARCH {
            let bytes = self.feed.view(at + record::BYTES + 2)?;
            let bytes = bytes.get(at..).unwrap_or(&[]);
            let Some(found) = bytes.first_chunk().and_then(|head| Record::parse(head, big)) else {
                break;
            };
            match found.kind {
                record::EVENT if found.more => {
                    let length = bytes.get(record::BYTES..).unwrap_or(&[]);
                    at += record::event_bytes(number_of(length, big) as usize);
                }
                record::EVENT => at += record::BYTES,
                record::LOST => break,
                _ => return Ok(Some(found)),
            }
        }
        Ok(None)
    }

    /// Consume the next record, which has no data, if the time of another one after it is known.
    #[inline(always)]
    pub fn plain(&mut self) -> Option<(Record, i64)> {
        let head: &[u8; 2 * record::BYTES] = self.feed.head().filter(|_| self.recorded)?;
        let [record, next] = head.as_chunks().0 else {
            return None;
        };
        let record = Record::parse(record, self.big).filter(|record| !record.more)?;
        let next = Record::parse(next, self.big)?;
        self.feed.take(record::BYTES);
        Some((record, next.time))
    }

    /// Read the next item.
    pub fn advance(&mut self) -> Result<(), Failure> {
        match self.kind {
            Kind::Task(_) => self.recorded = self.search()?,
            Kind::Perf(_) => self.note = self.perf()?.map(SideRecord::Perf),
            Kind::Extern => {
                let message = self.message()?;
                self.note = message.map(|(time, text)| SideRecord::Message(time, text));
            }
        }
        Ok(())
    }

    /// Find the next record, which may follow invalid bytes; returns whether there is one.
    fn search(&mut self) -> Result<bool, Failure> {
        loop {
            let big = self.big;
            let bytes = self.feed.view(record::BYTES)?;
            let Some(head) = bytes.first_chunk() else {
                self.cut += bytes.len() as u64;
                let rest = bytes.len();
                self.feed.take(rest);
                return Ok(false);
            };
            if Record::parse(head, big).is_some() {
                return Ok(true);
            }
            if self.bad == 0 {
                self.bad_at = self.feed.taken();
            }
            self.bad += 8;
            self.feed.take(8);
        }
    }

    /// The number of bytes of unknown data between the record at the head of the feed and the next one.
    #[cold]
    pub fn skip(&mut self, found: &Record) -> Result<usize, Failure> {
        let big = self.big;
        let bytes = self.feed.view(record::BYTES + SEARCH)?;
        let data = bytes.get(record::BYTES..).unwrap_or(&[]);
        let whole = data.len() / 8 * 8;
        for at in (0..whole).step_by(8) {
            let Some(next) =
                data.get(at..).and_then(|rest| rest.first_chunk()).and_then(|head| Record::parse(head, big))
            else {
                continue;
            };
            let near = next.time >= found.time && next.time - found.time < NEAR_NS;
            if next.kind == record::LOST && next.time == 0 || near && next.kind != record::LOST {
                return Ok(at);
            }
        }
        Ok(data.len())
    }

    /// Consume a record with its data; the padding of the last one may be missing.
    pub fn take(&mut self, length: usize) -> Result<(), Failure> {
        if self.feed.view(length)?.len() < length {
            return self.cut_off();
        }
        self.feed.take(length);
        Ok(())
    }

    /// Report that the file ends within data.
    pub fn cut_off(&mut self) -> Result<(), Failure> {
        let rest = self.feed.view(record::BYTES + SEARCH)?.len();
        self.cut += rest as u64;
        self.feed.take(rest);
        Ok(())
    }

    #[inline(never)]
    fn perf(&mut self) -> Result<Option<Happened>, Failure> {
        loop {
            let big = self.big;
            let head = self.feed.view(perf::HEAD)?;
            if head.is_empty() {
                return Ok(None);
            }
            let Some(length) = perf::length(head, big) else {
                self.cut_off()?;
                continue;
            };
            let bytes = self.feed.view(length)?;
            if bytes.len() < length {
                self.cut_off()?;
                continue;
            }
            let found = perf::parse(bytes, big);
            self.feed.take(length);
            match found {
                Perf::Happened(found) => return Ok(Some(found)),
                Perf::Lost(count) => self.lost = self.lost.saturating_add(count),
                Perf::Other(kind) => self.other = (self.other.0 + 1, kind),
                Perf::Bad => self.bad += length as u64,
            }
        }
    }

    #[inline(never)]
    fn message(&mut self) -> Result<Option<(i64, Vec<u8>)>, Failure> {
        loop {
            let bytes = self.feed.view(external::MOST_BYTES)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|one| *one == b'\n');
            let line = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes);
            let length = line.len() + usize::from(end.is_some());
            let found = external::parse(line);
            if let Line::Bad = found {
                self.bad_lines.0 += 1;
                if self.bad_lines.0 == 1 {
                    self.bad_lines.1 = String::from_utf8_lossy(line).into_owned();
                }
            }
            self.feed.take(length);
            if let Line::Message(time, text) = found {
                return Ok(Some((time, text)));
            }
        }
    }

    /// Report skipped bytes and records.
    pub fn notes(&self, notes: &mut Vec<Note>) {
        let mut add = |reason: &str, count: u64, example: String, incomplete: bool| {
            if count > 0 {
                notes.push(Note { file: self.file, reason: reason.to_owned(), count, example, incomplete });
            }
        };
        let at = format!("byte {}", self.bad_at);
        add("bytes are no records", self.bad, at, true);
        add("the file ends within a record", u64::from(self.cut > 0), format!("{} bytes", self.cut), true);
        let kind = format!("type {}", self.other.1);
        add("records of an unknown type", self.other.0, kind, false);
        add("records lost by the kernel", self.lost, String::new(), true);
        let line = self.bad_lines.1.clone();
        add("lines are no messages", self.bad_lines.0, line, false);
    }
}
