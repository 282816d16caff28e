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
    sources: Vec<Option<Source>>,
    /// Times and numbers of sources that have something to say.
    waiting: BinaryHeap<Reverse<(i64, usize)>>,
    merged: Option<Merged>,
    notes: Vec<Note>,
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
            sources.push(Some(Source::new(kind, file, feed, big)));
        }
        Decoder {
            setup,
            sources,
            waiting: BinaryHeap::new(),
            merged: None,
            notes: Vec::new(),
            begun: false,
            ended: false,
        }
    }

    /// Open all files and add the tables that are known from the beginning.
    fn begin(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        for (number, source) in self.sources.iter_mut().enumerate() {
            let Some(source) = source else { continue };
            source.feed.open()?;
            source.advance()?;
            if let Some((time, _)) = &source.next {
                self.waiting.push(Reverse((*time, number)));
            }
        }
        facts::before(sink, &self.setup);
        self.merged = Some(Merged::new(sink, &mut self.setup));
        Ok(())
    }

    /// Read on from the source whose time has come, until another's has.
    fn run(&mut self, sink: &mut Sink, number: usize) -> Result<Option<Place>, Failure> {
        let bound = self
            .waiting
            .peek()
            .map_or((i64::MAX, usize::MAX), |one| one.0);
        let (Some(merged), Some(slot)) = (&mut self.merged, self.sources.get_mut(number)) else {
            return Ok(None);
        };
        let Some(mut source) = slot.take() else {
            return Ok(None);
        };
        let mut place = Place {
            file: source.file,
            begin: source.feed.taken(),
            end: 0,
        };
        let mut left = BURST;
        let mut failed = Ok(());
        while left > 0
            && let Some((time, next)) = source.next.take()
        {
            if (time, number) > bound {
                source.next = Some((time, next));
                break;
            }
            left -= 1;
            failed = match next {
                Next::Record(record) => merged.record(sink, &mut source, &record),
                Next::Perf(happened) => {
                    merged.happened(sink, source.kind, happened);
                    Ok(())
                }
                Next::Message(text) => {
                    merged.message(sink, time, &text);
                    Ok(())
                }
            };
            failed = failed.and_then(|()| source.advance());
            if failed.is_err() {
                break;
            }
        }
        place.end = source.feed.taken();
        match &source.next {
            Some((time, _)) => self.waiting.push(Reverse((*time, number))),
            None => source.notes(&mut self.notes),
        }
        *slot = Some(source);
        failed.map(|()| Some(place))
    }
}

impl Decode for Decoder {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        let mut place = Place::default();
        if !self.begun {
            self.begun = true;
            self.begin(sink)?;
        }
        while let Some(Reverse((_, number))) = self.waiting.pop() {
            if let Some(now) = self.run(sink, number)? {
                place = now;
            }
            if sink.full() {
                return Ok(Some(place));
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
        Ok((sink.len() > 0).then_some(place))
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
