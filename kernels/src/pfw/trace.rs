//! The files of a trace, read by several threads, into finished tables.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use rayon::prelude::*;

use super::decode::{Counts, EventTable, Input, METADATA_COLUMNS, Part};
use super::hashes::Book;
use super::report::{Report, Reported, Trouble};
use super::source::{Block, Damage, Limits, Source};
use super::tables::{Context, Extent, Timed, time};
use crate::columns::{TableBuilder, unify};

/// Files up to this size are decoded together, one after the other, so that their tables are not torn into many parts.
const SMALL: u64 = 1 << 20;

pub struct File {
    pub path: String,
    pub size: u64,
}

/// What one file holds.
#[derive(Clone, Default)]
pub struct FileFigures {
    pub bytes: u64,
    pub events: u64,
    pub counts: Counts,
    pub unit: String,
    pub range: Option<(i64, i64)>,
}

pub type FinishedTable = (String, SchemaRef, Vec<RecordBatch>);

/// A decoded trace.
pub struct Trace {
    pub events: Vec<FinishedTable>,
    pub metadata: Vec<RecordBatch>,
    pub files: Vec<FileFigures>,
    pub troubles: Vec<Reported>,
    /// Absolute nanoseconds of the first event.
    pub start: i64,
    /// The latest end of an event, counted from `start`.
    pub last: i64,
}

/// What the threads share.
pub struct Job {
    pub files: Vec<File>,
    pub limits: Limits,
    pub threads: usize,
    pub done: AtomicU64,
    pub cancelled: AtomicBool,
    parts: Mutex<Vec<((usize, usize), Part)>>,
    /// Bytes of text of each file.
    bytes: Vec<AtomicU64>,
    waiting: AtomicUsize,
    /// Memory of blocks that are decoded.
    spare: Mutex<Vec<Vec<u8>>>,
}

impl Job {
    pub fn new(files: Vec<File>, limits: Limits, threads: usize) -> Job {
        Job {
            bytes: files.iter().map(|_| AtomicU64::new(0)).collect(),
            files,
            limits,
            threads: threads.max(1),
            done: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            parts: Mutex::new(Vec::new()),
            waiting: AtomicUsize::new(0),
            spare: Mutex::new(Vec::new()),
        }
    }

    pub fn total(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Decode all files; None when cancelled.
    pub fn run(&self) -> Result<Option<Trace>, ArrowError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
        pool.install(|| {
            rayon::scope(|scope| {
                for unit in self.units() {
                    scope.spawn(move |scope| self.read_unit(scope, unit));
                }
            });
            if self.cancelled.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.assemble().map(Some)
        })
    }

    /// Runs of files that are decoded together.
    fn units(&self) -> Vec<std::ops::Range<usize>> {
        let mut units = Vec::new();
        let (mut start, mut size) = (0, 0);
        for (index, file) in self.files.iter().enumerate() {
            if index > start && size + file.size > SMALL {
                units.push(start..index);
                (start, size) = (index, 0);
            }
            size += file.size;
        }
        units.push(start..self.files.len());
        units
    }

    fn read_unit<'s>(&'s self, scope: &rayon::Scope<'s>, unit: std::ops::Range<usize>) {
        let first = unit.start;
        let apart = unit.len() == 1 && self.files[first].size > SMALL;
        let mut part = Part::default();
        for file in unit {
            if let Err(error) = self.read_file(scope, file, apart, &mut part) {
                part.report
                    .note(file, Trouble::Unreadable, 1, &error.to_string());
            }
        }
        self.add((first, usize::MAX), part);
    }

    fn add(&self, place: (usize, usize), part: Part) {
        // A poisoned lock only tells of a panic elsewhere, which ends the job anyway.
        self.parts
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push((place, part));
    }

    /// Read a file; its blocks are decoded into `part`, or `apart` by other threads that are idle.
    fn read_file<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        file: usize,
        apart: bool,
        part: &mut Part,
    ) -> std::io::Result<()> {
        let mut source = Source::open(Path::new(&self.files[file].path), &self.done, self.limits)?;
        let mut sequence = 0;
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Ok(());
            }
            let spare = locked(&self.spare).pop().unwrap_or_default();
            let block = source.block(spare);
            self.bytes[file].store(source.bytes, Ordering::Relaxed);
            let block = block?;
            let last = block.last;
            if !apart {
                self.decode(file, block, source.damage(), part);
            } else if self.waiting.load(Ordering::Relaxed) < self.threads
                && self.threads > 1
                && !last
            {
                self.waiting.fetch_add(1, Ordering::Relaxed);
                scope.spawn(move |_| {
                    self.decode_apart((file, sequence), block, None);
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                });
            } else {
                self.decode_apart((file, sequence), block, source.damage());
            }
            sequence += 1;
            if last {
                self.note_damage(file, &source, part);
                return Ok(());
            }
        }
    }

    fn decode_apart(&self, place: (usize, usize), block: Block, damage: Option<Damage>) {
        let mut part = Part::default();
        self.decode(place.0, block, damage, &mut part);
        self.add(place, part);
    }

    fn decode(&self, file: usize, block: Block, damage: Option<Damage>, part: &mut Part) {
        if let Some(head) = &block.skipped {
            part.long_line(file, head);
        }
        let input = Input {
            file,
            path: &self.files[file].path,
            text: &block.text,
            // Where gzip data end early the file is reported for that; its last line is then a bad one like others.
            last: block.last && damage.is_none(),
        };
        part.decode(&input);
        locked(&self.spare).push(block.text);
    }

    fn note_damage(&self, file: usize, source: &Source, part: &mut Part) {
        let at = format!("after {} bytes of text", source.bytes);
        match source.damage() {
            Some(Damage::Truncated) => part.report.note(file, Trouble::Truncated, 1, &at),
            Some(Damage::Corrupt) => part.report.note(file, Trouble::Corrupt, 1, &at),
            Some(Damage::Trailing) => part.report.note(file, Trouble::Trailing, 1, &at),
            None if self.files[file].size == 0 => part.report.note(file, Trouble::Empty, 1, ""),
            None => (),
        }
    }

    fn assemble(&self) -> Result<Trace, ArrowError> {
        let mut parts = std::mem::take(&mut *locked(&self.parts));
        parts.sort_by_key(|(place, _)| *place);
        let mut merged = Merged::new(self.files.len());
        for (_, part) in parts {
            merged.add(part);
        }
        for (file, bytes) in self.bytes.iter().enumerate() {
            merged.files[file].bytes = bytes.load(Ordering::Relaxed);
        }
        merged.finish()
    }
}

/// A poisoned lock only tells of a panic elsewhere, which ends the job anyway.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All parts of a trace together.
struct Merged {
    names: crate::columns::Interner,
    tables: Vec<Vec<EventTable>>,
    metadata: Vec<TableBuilder>,
    hashes: Vec<super::decode::HashRecord>,
    units: Vec<Option<Vec<u8>>>,
    files: Vec<FileFigures>,
    report: Report,
}

impl Merged {
    fn new(files: usize) -> Merged {
        Merged {
            names: Default::default(),
            tables: Vec::new(),
            metadata: Vec::new(),
            hashes: Vec::new(),
            units: vec![None; files],
            files: vec![FileFigures::default(); files],
            report: Report::default(),
        }
    }

    fn add(&mut self, part: Part) {
        for (id, table) in part.events.into_iter().enumerate() {
            let id = self.names.intern(part.names.get(id));
            if id == self.tables.len() {
                self.tables.push(Vec::new());
            }
            self.tables[id].push(table);
        }
        if part.metadata.rows() > 0 {
            self.metadata.push(part.metadata);
        }
        self.hashes.extend(part.hashes);
        if part.replaced > 0 {
            let file = part.counts.first().map_or(0, |(file, _)| *file);
            self.report.note(
                file,
                Trouble::NotUtf8,
                part.replaced,
                "half a surrogate pair",
            );
        }
        let files = &self.files;
        self.report
            .merge(part.report, |file| files[file].counts.lines);
        for (file, counts) in part.counts {
            let sum = &mut self.files[file].counts;
            sum.lines += counts.lines;
            sum.metadata += counts.metadata;
            sum.invalid += counts.invalid;
            sum.other += counts.other;
        }
        for (file, unit) in part.units {
            match &self.units[file] {
                None => self.units[file] = Some(unit),
                Some(first) if *first != unit => {
                    self.report
                        .note(file, Trouble::TwoUnits, 1, &String::from_utf8_lossy(&unit));
                }
                Some(_) => (),
            }
        }
    }

    /// Nanoseconds in the time unit of a file.
    fn factor(&mut self, file: usize) -> i64 {
        let told = self.units[file]
            .take()
            .unwrap_or_else(|| b"US".to_vec())
            .to_ascii_uppercase();
        let (unit, factor) = match told.as_slice() {
            b"NS" => ("NS", 1),
            b"US" => ("US", 1000),
            b"MS" => ("MS", 1_000_000),
            b"SEC" | b"S" => ("SEC", 1_000_000_000),
            _ => {
                self.report
                    .note(file, Trouble::BadUnit, 1, &String::from_utf8_lossy(&told));
                ("US", 1000)
            }
        };
        self.files[file].unit = unit.to_owned();
        factor
    }

    fn finish(mut self) -> Result<Trace, ArrowError> {
        let factors = (0..self.files.len())
            .map(|file| self.factor(file))
            .collect();
        let book = Book::new(std::mem::take(&mut self.hashes), &mut self.report);
        let context = Context { factors, book };
        let names: Vec<String> = self
            .names
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        let chunks: Vec<_> = names
            .into_iter()
            .zip(std::mem::take(&mut self.tables))
            .collect();
        let mut timed = chunks
            .into_par_iter()
            .map(|(name, chunks)| time(name, chunks, &context))
            .collect::<Result<Vec<Timed>, ArrowError>>()?;
        for table in &mut timed {
            for (file, trouble, count, example) in table.troubles.drain(..) {
                self.report.note(file, trouble, count, &example);
            }
            for (file, extent) in &table.extents {
                self.files[*file].add(extent);
            }
        }
        let (start, end) = timed
            .iter()
            .filter_map(|table| table.range)
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            .unwrap_or_default();
        let events = timed
            .into_par_iter()
            .filter(|table| table.range.is_some())
            .map(|table| table.finish(start))
            .collect::<Result<_, ArrowError>>()?;
        if self.metadata.is_empty() {
            self.metadata.push(TableBuilder::new(&METADATA_COLUMNS));
        }
        let (metadata, invalid) = unify(self.metadata)?;
        if invalid > 0 {
            self.report
                .note(0, Trouble::NotUtf8, invalid as u64, "metadata");
        }
        let troubles = self.report.into_entries().collect();
        Ok(Trace {
            events,
            metadata,
            files: self.files,
            troubles,
            start,
            last: end - start,
        })
    }
}

impl FileFigures {
    fn add(&mut self, extent: &Extent) {
        self.events += extent.events;
        let (min, max) = self.range.unwrap_or((extent.min_ts, extent.max_ts));
        self.range = Some((min.min(extent.min_ts), max.max(extent.max_ts)));
    }
}
