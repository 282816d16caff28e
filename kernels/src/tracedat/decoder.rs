//! Decode files of trace-cmd into rows of tables, and metadata.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::header::{self, Header};
use super::input::Input;
use super::merge::Merge;
use super::report::{self, Counts};
use super::tables;
use super::threads::Threads;
use crate::rows::{Decode, Failure, Learnt, Place, Sink};
use crate::tracepoints::{Optional, Put, Record, Symbols, Tracepoints};

/// Number of events between two updates of the progress.
const ROUND: u64 = 4096;

/// An open file.
struct Open {
    input: Input,
    header: Header,
    merge: Merge,
    events: Tracepoints,
    threads: Threads,
    counts: Counts,
    /// Bytes of pages read before the last chunk.
    done: u64,
}

/// All files of a trace.
pub struct Decoder {
    paths: Vec<String>,
    file: usize,
    open: Option<Box<Open>>,
    /// Bytes of the files before.
    before: u64,
    done: Arc<AtomicU64>,
    line: i64,
    learnt: Learnt,
    first: Option<i64>,
}

impl Decoder {
    pub fn new(paths: Vec<String>, done: Arc<AtomicU64>) -> Decoder {
        Decoder { paths, file: 0, open: None, before: 0, done, line: 0, learnt: Learnt::default(), first: None }
    }

    fn begin(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        let path = &self.paths[self.file];
        let open = Open::new(path, sink).map_err(|error| match error {
            Failure::Bad(text) => Failure::Bad(format!("cannot read `{path}`: {text}")),
            other => other,
        })?;
        self.open = Some(Box::new(open));
        Ok(())
    }

    /// End a file: report its statistics.
    fn end(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.before = self.before.saturating_add(open.input.size);
        self.done.store(self.before, Ordering::Relaxed);
        let statistics = report::FileStatistics {
            header: &open.header,
            streams: &open.merge.streams,
            events: &open.events,
            counts: &open.counts,
            first: self.first,
        };
        report::learn(self.file as u32, &statistics, &mut self.learnt);
        self.file += 1;
    }
}

impl Decode for Decoder {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        loop {
            if self.file >= self.paths.len() {
                return Ok(None);
            }
            if self.open.is_none() {
                self.begin(sink)?;
            }
            let Some(open) = &mut self.open else {
                return Ok(None);
            };
            let begin = open.done;
            let more = open.rows(sink, &mut self.line)?;
            let file = self.file as u32;
            self.first = self.first.or(sink.range().map(|range| range.0));
            if let (Some(first), Some((low, _))) = (&mut self.first, sink.range()) {
                *first = low.min(*first);
            }
            let end = open.done;
            self.done.store(self.before.saturating_add(end), Ordering::Relaxed);
            if !more {
                self.end();
            }
            if sink.len() > 0 {
                return Ok(Some(Place { file, begin, end }));
            }
        }
    }

    fn learnt(&mut self) -> Learnt {
        std::mem::take(&mut self.learnt)
    }
}

impl Open {
    fn new(path: &str, sink: &mut Sink) -> Result<Open, Failure> {
        let mut input = Input::open(path)?;
        let mut header = header::read(&mut input)?;
        let optional = Optional { tgid: false, buffer: header.buffers.iter().any(|one| !one.name.is_empty()) };
        let mut events = Tracepoints::new(header.order, optional);
        let mut counts = Counts::default();
        for text in std::mem::take(&mut header.formats) {
            counts.bad_formats += u64::from(!events.add(text));
        }
        events.add_printks(&std::mem::take(&mut header.printks));
        events.set_symbols(Symbols::parse(std::mem::take(&mut header.symbols)));
        let threads = Threads::parse(&header.cmdlines);
        tables::put(&header, sink);
        let merge = Merge::open(&mut input, &header)?;
        Ok(Open { input, header, merge, events, threads, counts, done: 0 })
    }

    /// Add rows until there are enough; false at the end.
    fn rows(&mut self, sink: &mut Sink, line: &mut i64) -> Result<bool, Failure> {
        loop {
            for _ in 0..ROUND {
                let Some((place, ts)) = self.merge.next(&self.header.options) else {
                    self.done = self.input.size;
                    return Ok(false);
                };
                *line += 1;
                let stream = &mut self.merge.streams[place];
                let bytes = stream.record();
                let pid = self.events.pid(bytes);
                let name = self.header.buffers.get(stream.buffer);
                let (number, comm) = self.threads.name(pid);
                let record = Record {
                    ts,
                    cpu: stream.cpu,
                    comm,
                    comm_number: Some(number),
                    tgid: None,
                    line: *line,
                    buffer: name.map(|one| one.name.as_slice()).filter(|n| !n.is_empty()),
                    bytes,
                };
                match self.events.row(&record, sink) {
                    Put::Row => {}
                    other => self.counts.add(other),
                }
                let threads = &mut self.threads;
                self.events.names_in(bytes, |pid, name| threads.learn(pid, name));
                stream.advance(&mut self.input)?;
                if sink.full() {
                    self.done = self.bytes_done();
                    return Ok(true);
                }
            }
        }
    }

    fn bytes_done(&self) -> u64 {
        let done = self.merge.streams.iter().map(|stream| stream.done());
        done.sum::<u64>().min(self.input.size)
    }
}
