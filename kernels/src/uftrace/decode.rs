//! All files of a data directory -> rows, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rustc_hash::FxHashMap;

use super::facts;
use super::feed::Feed;
use super::merged::Merged;
use super::setup::Setup;
use super::source::{Kind, Next, Source};
use crate::rows::{Decode, Failure, Learnt, Note, Place, Sink};

/// So many records are read between questions whether the chunk is full.
const BURST: usize = 64;

/// Reads a data directory.
pub struct Decoder {
    setup: Setup,
    sources: Vec<Source>,
    /// Times and numbers of sources that have something to say.
    waiting: BinaryHeap<Reverse<(i64, usize)>>,
    merged: Option<Merged>,
    notes: Vec<Note>,
    /// Bytes of all files before this chunk.
    taken: u64,
    begun: bool,
    ended: bool,
}

impl Decoder {
    pub fn new(mut setup: Setup, done: Arc<AtomicU64>) -> Decoder {
        let big = setup.big_endian;
        let numbers: FxHashMap<i64, usize> = setup
            .tasks
            .iter()
            .enumerate()
            .map(|(at, one)| (one.tid, at))
            .collect();
        let mut sources = Vec::new();
        for (kind, file, path, number) in std::mem::take(&mut setup.sources) {
            let kind = match kind.as_str() {
                "perf" => Kind::Perf(number),
                "extern" => Kind::Extern,
                _ => Kind::Task(numbers.get(&number).copied().unwrap_or(usize::MAX)),
            };
            let feed = Feed::new(path, Arc::clone(&done));
            sources.push(Source::new(kind, file, feed, big));
        }
        Decoder {
            setup,
            sources,
            waiting: BinaryHeap::new(),
            merged: None,
            notes: Vec::new(),
            taken: 0,
            begun: false,
            ended: false,
        }
    }

    /// Open all files and add the tables that are known from the beginning.
    fn begin(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        for (number, source) in self.sources.iter_mut().enumerate() {
            source.feed.open()?;
            source.advance()?;
            match source.next.time() {
                Some(time) => self.waiting.push(Reverse((time, number))),
                None => source.notes(&mut self.notes),
            }
        }
        facts::before(sink, &self.setup);
        self.merged = Some(Merged::new(sink, &mut self.setup));
        Ok(())
    }

    /// Read on from the source whose time has come, until another's has.
    fn run(&mut self, sink: &mut Sink, number: usize) -> Result<(), Failure> {
        let bound = self
            .waiting
            .peek()
            .map_or((i64::MAX, usize::MAX), |one| one.0);
        let (Some(merged), Some(source)) = (&mut self.merged, self.sources.get_mut(number)) else {
            return Ok(());
        };
        for _ in 0..BURST {
            if let Next::Record(record) = source.next {
                if (record.time, number) > bound {
                    break;
                }
                merged.record(sink, source, &record)?;
            } else {
                if source.next.time().is_none_or(|time| (time, number) > bound) {
                    break;
                }
                match std::mem::replace(&mut source.next, Next::Nothing) {
                    Next::Perf(happened) => merged.happened(sink, source.kind, happened),
                    Next::Message(time, text) => merged.message(sink, time, &text),
                    Next::Record(_) | Next::Nothing => {}
                }
            }
            source.advance()?;
        }
        match source.next.time() {
            Some(time) => self.waiting.push(Reverse((time, number))),
            None => source.notes(&mut self.notes),
        }
        Ok(())
    }

    /// Where the pass stands: chunks are of many files at once, and count as parts of the first.
    fn place(&mut self) -> Place {
        let end = self.sources.iter().map(|one| one.feed.taken()).sum();
        Place {
            file: self.sources.first().map_or(0, |one| one.file),
            begin: std::mem::replace(&mut self.taken, end),
            end,
        }
    }
}

impl Decode for Decoder {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        if !self.begun {
            self.begun = true;
            self.begin(sink)?;
        }
        while let Some(Reverse((_, number))) = self.waiting.pop() {
            self.run(sink, number)?;
            if sink.full() {
                return Ok(Some(self.place()));
            }
        }
        if self.ended {
            return Ok(None);
        }
        self.ended = true;
        if let Some(merged) = &mut self.merged {
            merged.finish(sink);
            facts::after(sink, merged, &self.setup);
        }
        Ok((sink.len() > 0).then(|| self.place()))
    }

    fn learnt(&mut self) -> Learnt {
        let mut learnt = Learnt::default();
        for (file, reason, count, example, incomplete) in std::mem::take(&mut self.setup.notes) {
            learnt.notes.push(Note {
                file,
                reason,
                count,
                example,
                incomplete,
            });
        }
        learnt.notes.append(&mut self.notes);
        learnt.properties = std::mem::take(&mut self.setup.properties);
        if let Some(merged) = &mut self.merged {
            merged.learnt(&mut learnt, self.setup.utc_offset_ns);
        }
        learnt
    }
}
