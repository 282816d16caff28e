//! Read, sort and decode the records of one perf.data file into rows.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::attr::Attr;
use super::header::{self, Opened};
use super::maps::Maps;
use super::metadata;
use super::other;
use super::queue::Queue;
use super::sample;
use super::samples::Samples;
use super::stream::{Head, LAST_KIND, Stream, kind};
use super::threads::Threads;
use super::work::Work;
use crate::input::bytes::Bytes;
use crate::rows::{Failure, Notes, Sink};

/// Maximum bytes of records without a time that wait for the first time.
const WAITING: usize = 16 << 20;
/// Maximum bytes of formats of tracepoints.
const TRACING: u64 = 64 << 20;
const FIRST_EVENTS: usize = 1 << 16;

/// An open file.
pub struct Session {
    path: String,
    stream: Stream,
    queue: Queue,
    pub work: Work,
    /// Records without a time before the first time: number, event, bytes.
    waiting: Vec<(u64, usize, Vec<u8>)>,
    held: usize,
    started: bool,
    line: u64,
    ended: bool,
}

impl Session {
    /// Open a file and read its header.
    ///
    /// # Errors
    /// It cannot be read, or is not perf.data.
    pub fn open(path: &Path, number: u32, done: Arc<AtomicU64>) -> Result<Session, Failure> {
        let text = path.display().to_string();
        let io = |error| Failure::Io(text.clone(), error);
        let opened = Opened::new(path, done).map_err(io)?;
        let mut notes = Notes::default();
        notes.of(number);
        let head = header::read(&opened, &mut notes)?;
        let source = opened.from(head.start, true).map_err(io)?;
        let mut session = Session {
            stream: Stream::new(source, head.start, head.size, head.big),
            path: text,
            queue: Queue::default(),
            work: Work {
                big: head.big,
                events: head.events,
                metadata: head.metadata,
                maps: Maps::default(),
                threads: Threads::default(),
                notes,
                samples: Samples::default(),
                tracepoints: None,
                now: 0,
                first: None,
            },
            waiting: Vec::new(),
            held: 0,
            started: false,
            line: 0,
            ended: false,
        };
        session.work.learn_formats();
        Ok(session)
    }

    /// The current place in the file.
    pub fn place(&self) -> u64 {
        self.stream.place()
    }

    /// Read until the sink is full; returns whether the file has ended.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn run(&mut self, sink: &mut Sink) -> Result<bool, Failure> {
        loop {
            while let Some((entry, record)) = self.queue.pop() {
                let time = i64::try_from(entry.time).unwrap_or(i64::MAX);
                if !self.started {
                    self.started = true;
                    self.work.now = time;
                    for (line, event, record) in self.waiting.drain(..) {
                        self.work.record(&record, None, line, event, sink);
                    }
                }
                self.work.record(record, Some(time), entry.line, entry.event, sink);
                if sink.full() {
                    return Ok(false);
                }
            }
            if self.ended {
                return Ok(true);
            }
            self.advance(sink)?;
            if sink.full() {
                return Ok(false);
            }
        }
    }

    fn advance(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        let next = self.stream.next(&mut self.work.notes);
        let next = match next {
            Ok(Some(head)) if head.kind > LAST_KIND => {
                let reason = "what follows is no record, the rest is not read";
                self.work.notes.cut(reason);
                self.stream.end();
                return Ok(());
            }
            next => next,
        };
        match next.map_err(|error| Failure::Io(self.path.clone(), error))? {
            Some(head) if head.kind >= kind::TOOL => self.tool_record(head)?,
            Some(head) => self.kernel_record(head, sink),
            None => {
                self.ended = true;
                self.queue.end();
                if self.queue.is_empty() {
                    self.start(sink);
                }
            }
        }
        Ok(())
    }

    /// Start without a first time: waiting records get time 0.
    fn start(&mut self, sink: &mut Sink) {
        self.started = true;
        for (line, event, record) in std::mem::take(&mut self.waiting) {
            self.work.record(&record, None, line, event, sink);
        }
    }

    fn kernel_record(&mut self, head: Head, sink: &mut Sink) {
        self.line += 1;
        let line = self.line;
        if !other::is_known(head.kind) {
            let reason = "record of a kind that is not known";
            let example = || format!("record {line}, kind {}", head.kind);
            return self.work.notes.add(reason, 1, false, example);
        }
        let record = self.stream.record();
        let body = record.get(8..).unwrap_or_default();
        let events = &self.work.events;
        let found = match head.kind {
            kind::SAMPLE => {
                let body = Bytes::new(body, self.work.big);
                let found = events.of_sample(body);
                found.map(|(place, attr)| (place, sample::time_of(body, attr)))
            }
            _ => {
                let found = events.of_other(body, self.work.big);
                found.map(|(place, attr)| {
                    let (origin, _) = sample::split_origin(body, attr, self.work.big);
                    (place, origin.time)
                })
            }
        };
        let Some((event, time)) = found else {
            let reason = match head.kind {
                kind::SAMPLE => "sample of an event that is not known",
                _ => "record of an event that is not known",
            };
            return self.work.notes.add(reason, 1, false, || format!("record {line}"));
        };
        match time.filter(|time| !matches!(*time, 0 | u64::MAX)) {
            Some(time) if i64::try_from(time).is_err() => {
                let reason = "time is too large";
                self.work.notes.add(reason, 1, false, || format!("record {line}: {time}"));
            }
            Some(time) => self.queue.push(time, line, event, record),
            None => self.timeless(head, line, event, sink),
        }
    }

    fn timeless(&mut self, head: Head, line: u64, event: usize, sink: &mut Sink) {
        let tool_made = matches!(
            head.kind,
            kind::MMAP
                | kind::MMAP2
                | kind::COMM
                | kind::FORK
                | kind::NAMESPACES
                | kind::KSYMBOL
                | kind::BPF_EVENT
                | kind::CGROUP
        );
        if !tool_made {
            let reason = "record without a time, has that of the record before it";
            self.work.notes.add(reason, 1, false, || format!("record {line}"));
        }
        let record = self.stream.record();
        if !self.started {
            self.held += record.len();
            self.waiting.push((line, event, record.to_vec()));
            if self.held >= WAITING {
                self.start(sink);
            }
        } else {
            self.work.record(record, None, line, event, sink);
        }
    }

    fn tool_record(&mut self, head: Head) -> Result<(), Failure> {
        let body = self.stream.record().get(8..).unwrap_or_default();
        let big = self.work.big;
        let mut at = Bytes::new(body, big);
        let work = &mut self.work;
        match head.kind {
            kind::ATTR => {
                if let Some((attr, size)) = Attr::read(at)
                    && work.events.len() < FIRST_EVENTS
                {
                    let ids = body.get(size..).unwrap_or_default();
                    let mut ids = Bytes::new(ids, big);
                    work.events.add(attr, std::iter::from_fn(|| ids.u64()));
                } else {
                    work.notes.cut("list of events is damaged");
                }
                work.samples.renew();
            }
            kind::EVENT_TYPE => metadata::event_types(at, &mut work.metadata),
            kind::EVENT_UPDATE => drop(event_update(at, work)),
            kind::BUILD_ID => drop(metadata::build_id(at, head.misc, &mut work.metadata)),
            kind::FEATURE => {
                if let Some(feature) = at.u64() {
                    let feature = u32::try_from(feature).unwrap_or(u32::MAX);
                    metadata::feature(feature, at, &mut work.metadata, &mut work.events);
                    work.learn_formats();
                    work.samples.renew();
                }
            }
            kind::FINISHED_ROUND => self.queue.round(),
            kind::TRACING_DATA => {
                let size = u64::from(at.u32().unwrap_or(0));
                self.work.metadata.tracing = self.payload(size, TRACING)?;
                self.work.learn_formats();
            }
            kind::AUXTRACE => {
                let size = at.u64().unwrap_or(0);
                let reason = "part of a hardware trace (AUX), not decoded";
                work.notes.add(reason, 1, false, || format!("{size} bytes"));
                self.payload(size, 0)?;
            }
            72 => {
                let reason = "error of a hardware trace (AUX)";
                work.notes.add(reason, 1, false, String::new);
            }
            kind::ID_INDEX | 70 | 73..=77 | 79 | 82 | 84..=86 => {}
            other => {
                let reason = "record of a kind that is not known";
                work.notes.add(reason, 1, false, || format!("kind {other}"));
            }
        }
        self.queue.delayed |= self.stream.is_packed();
        Ok(())
    }

    fn payload(&mut self, size: u64, most: u64) -> Result<Vec<u8>, Failure> {
        let found = self.stream.payload(size, most, &mut self.work.notes);
        found.map_err(|error| Failure::Io(self.path.clone(), error))
    }
}

/// A later update of an event in pipe mode; only names are used.
fn event_update(mut at: Bytes<'_>, work: &mut Work) -> Option<()> {
    const NAME: u64 = 2;
    let what = at.u64()?;
    let id = at.u64()?;
    let place = work.events.place(id)?;
    if what == NAME {
        let name = crate::input::bytes::until_zero(at.rest());
        work.events.get_mut(place)?.name = Some(String::from_utf8_lossy(name).into_owned());
        work.samples.renew();
    }
    Some(())
}
