//! The files of a trace, read by several threads, into finished tables.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use rayon::prelude::*;

use super::decode::{EventTable, HashRecord, Input, METADATA_COLUMNS, Part};
use super::hashes::Book;
use super::ledger::{FileFigures, Ledger};
use super::metadata::finish_metadata;
use super::report::{Reported, Trouble};
use super::tables::{Context, Timed, time};
use crate::access::{Block, Damage, Limits, Source};
use crate::columns::{TableBuilder, unify};

/// Files up to this size are decoded together, one after the other, so that their tables are not torn into many parts.
const SMALL: u64 = 1 << 20;

#[derive(Clone)]
pub struct File {
    pub path: String,
    pub size: u64,
}

impl File {
    pub fn new(path: String) -> File {
        File { size: std::fs::metadata(&path).map_or(0, |data| data.len()), path }
    }
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
    pub done: Arc<AtomicU64>,
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
            done: Arc::default(),
            cancelled: AtomicBool::new(false),
            parts: Mutex::new(Vec::new()),
            waiting: AtomicUsize::new(0),
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Bytes of files that were read, and all.
    pub fn progress(&self) -> (u64, u64) {
        let total = self.files.iter().map(|file| file.size).sum();
        (self.done.load(Ordering::Relaxed), total)
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
                part.report.note(file, Trouble::Unreadable, 1, &error.to_string());
            }
        }
        self.add((first, usize::MAX), part);
    }

    fn add(&self, place: (usize, usize), part: Part) {
        // A poisoned lock only tells of a panic elsewhere, which ends the job anyway.
        self.parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, part));
    }

    /// Read a file; its blocks are decoded into `part`, or `apart` by other threads that are idle.
    fn read_file<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        file: usize,
        apart: bool,
        part: &mut Part,
    ) -> std::io::Result<()> {
        let path = Path::new(&self.files[file].path);
        let done = Arc::clone(&self.done);
        let mut source = Source::open(path, file as u32, self.limits, done)?;
        let mut sequence = 0;
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Ok(());
            }
            let spare = locked(&self.spare).pop().unwrap_or_default();
            let block = source.block(spare);
            self.bytes[file].store(source.bytes(), Ordering::Relaxed);
            let block = block?;
            let last = block.last;
            if !apart {
                self.decode(file, block, source.damage(), part);
            } else if self.waiting.load(Ordering::Relaxed) < self.threads && self.threads > 1 && !last {
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
                let size = self.files[file].size;
                Ledger::note_end(&mut part.report, file, source.damage(), source.bytes(), size);
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

    fn assemble(&self) -> Result<Trace, ArrowError> {
        let mut parts = std::mem::take(&mut *locked(&self.parts));
        parts.sort_by_key(|(place, _)| *place);
        let mut merged = Merged::new(self.files.len());
        for (_, part) in parts {
            merged.add(part);
        }
        for (file, bytes) in self.bytes.iter().enumerate() {
            merged.ledger.files[file].bytes = bytes.load(Ordering::Relaxed);
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
    hashes: Vec<HashRecord>,
    ledger: Ledger,
}

impl Merged {
    fn new(files: usize) -> Merged {
        Merged {
            names: Default::default(),
            tables: Vec::new(),
            metadata: Vec::new(),
            hashes: Vec::new(),
            ledger: Ledger::new(files),
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
        self.ledger.add(part.report, part.counts, part.units);
    }

    fn finish(mut self) -> Result<Trace, ArrowError> {
        let factors = self.ledger.factors();
        let told = self.hashes.iter().map(HashRecord::told);
        let book = Book::new(told, &mut self.ledger.report);
        let context = Context { factors, book };
        let names = self.names.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        let chunks: Vec<_> = names.zip(std::mem::take(&mut self.tables)).collect();
        let mut timed = chunks
            .into_par_iter()
            .map(|(name, chunks)| time(name, chunks, &context, None))
            .collect::<Result<Vec<Timed>, ArrowError>>()?;
        for table in &mut timed {
            for (file, trouble, count, example) in table.troubles.drain(..) {
                self.ledger.report.note(file, trouble, count, &example);
            }
            for (file, extent) in &table.extents {
                self.ledger.files[*file].add(extent);
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
            self.ledger.report.note(0, Trouble::NotUtf8, invalid as u64, "metadata");
        }
        Ok(Trace {
            events,
            metadata: finish_metadata(&metadata, None)?,
            files: self.ledger.files,
            troubles: self.ledger.report.into_entries().collect(),
            start,
            last: end - start,
        })
    }
}
