//! Decode all files of a data directory into rows, in time order.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rustc_hash::FxHashMap;

use super::feed::Feed;
use super::merged::Merged;
use super::metadata;
use super::record;
use super::setup::Setup;
use super::source::{Kind, RecordFile, SideRecord};
use super::winners::Winners;
use crate::rows::{Decode, Failure, Learnt, Note, Place, Sink};

/// Records between checks whether the chunk is full.
const BURST: usize = 256;

/// Reads a data directory.
pub struct Decoder {
    setup: Setup,
    sources: Vec<RecordFile>,
    /// Selects the source with the next item.
    winners: Winners,
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
        let numbers: FxHashMap<i64, usize> = setup.tasks.iter().enumerate().map(|(at, one)| (one.tid, at)).collect();
        let mut sources = Vec::new();
        for (kind, file, path, number) in std::mem::take(&mut setup.sources) {
            let kind = match kind.as_str() {
                "perf" => Kind::Perf(number),
                "extern" => Kind::Extern,
                _ => Kind::Task(numbers.get(&number).copied().unwrap_or(usize::MAX)),
            };
            let feed = Feed::new(path, Arc::clone(&done));
            sources.push(RecordFile::new(kind, file, feed, big));
        }
        Decoder {
            setup,
            sources,
            winners: Winners::new(&[]),
            merged: None,
            notes: Vec::new(),
            taken: 0,
            begun: false,
            ended: false,
        }
    }

    /// Open all files and add the tables known at the start.
    fn begin(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        let mut times = Vec::with_capacity(self.sources.len());
        for source in &mut self.sources {
            source.feed.open()?;
            source.advance()?;
            let time = source.time();
            if time.is_none() {
                source.notes(&mut self.notes);
            }
            times.push(time);
        }
        self.winners = Winners::new(&times);
        metadata::before(sink, &self.setup);
        let mut merged = Merged::new(sink, &mut self.setup);
        for source in &mut self.sources {
            if let Kind::Task(number) = source.kind
                && let Some(task) = merged.tasks.get_mut(number)
            {
                task.first = source.first_call()?;
            }
        }
        self.merged = Some(merged);
        Ok(())
    }

    /// Read on for a while; false at the end.
    fn run(&mut self, sink: &mut Sink) -> Result<bool, Failure> {
        for _ in 0..BURST {
            // The next winner is determined before this one's record is read, so that both run in parallel.
            if let Some(source) = self.sources.get_mut(self.winners.first())
                && let Some((record, next)) = source.plain()
                && let Some(merged) = &mut self.merged
            {
                self.winners.set_first(Some(next));
                merged.record(sink, source.kind, &record, None)?;
            } else if !self.turn(sink)? {
                return Ok(false);
            }
        }
        if let Some(merged) = &mut self.merged
            && merged.calls.full()
        {
            merged.flush(sink);
        }
        Ok(true)
    }

    /// Read a file's next item, of any type; false if there is none in any file.
    #[inline(never)]
    fn turn(&mut self, sink: &mut Sink) -> Result<bool, Failure> {
        if self.winners.ended() {
            return Ok(false);
        }
        let first = self.winners.first();
        let (Some(source), Some(merged)) = (self.sources.get_mut(first), &mut self.merged) else {
            return Ok(false);
        };
        match source.record() {
            Some(record) if record.more => {
                merged.record(sink, source.kind, &record, Some(source))?;
            }
            Some(record) => {
                source.feed.take(record::BYTES);
                merged.record(sink, source.kind, &record, None)?;
            }
            None => match source.note.take() {
                Some(SideRecord::Perf(happened)) => merged.happened(sink, source.kind, happened),
                Some(SideRecord::Message(time, text)) => merged.message(sink, time, &text),
                None => {}
            },
        }
        source.advance()?;
        let time = source.time();
        if time.is_none() {
            source.notes(&mut self.notes);
        }
        self.winners.set_first(time);
        Ok(true)
    }

    /// The position of the pass: chunks cover many files at once, and count as parts of the first.
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
        while self.run(sink)? {
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
            metadata::after(sink, merged, &self.setup);
        }
        Ok((sink.len() > 0).then(|| self.place()))
    }

    fn learnt(&mut self) -> Learnt {
        let mut learnt = Learnt::default();
        for (file, reason, count, example, incomplete) in std::mem::take(&mut self.setup.notes) {
            learnt.notes.push(Note { file, reason, count, example, incomplete });
        }
        learnt.notes.append(&mut self.notes);
        learnt.properties = std::mem::take(&mut self.setup.properties);
        if let Some(merged) = &mut self.merged {
            merged.learnt(&mut learnt, self.setup.utc_offset_ns);
        }
        learnt
    }
}
