//! An Arrow stream of spans or events -> checked chunks of times and partition codes, and the rows they stand for.

use std::collections::VecDeque;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, DataType, FieldRef};

use super::cancel::Token;
use super::failure::{fail, upstream};
use super::partition::Partitions;

/// Rows of one chunk at most, and about the rows of one output batch.
pub const ROWS: usize = 1 << 16;

/// The row reference that stands for NULL in every column.
pub const NULL_ROW: u64 = u64::MAX;

pub type Reader = Box<dyn RecordBatchReader + Send>;

/// What the first columns of an input are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Spans,
    Events,
}

/// Times and partitions of some rows; row `i` is referred to as `base + i`.
pub struct Chunk {
    pub ts: ScalarBuffer<i64>,
    pub end: Vec<i64>,
    pub code: Vec<u32>,
    pub base: u64,
}

/// An input that is read chunk by chunk, with a place in the current chunk.
pub struct Source {
    reader: Reader,
    kind: Kind,
    partitions: usize,
    role: &'static str,
    cancel: Token,
    rest: Option<RecordBatch>,
    last: i64,
    pub held: Held,
    pub chunk: Chunk,
    pub pos: usize,
    pub done: bool,
}

impl Source {
    pub fn new(
        reader: Reader,
        kind: Kind,
        partitions: usize,
        role: &'static str,
        cancel: Token,
    ) -> Result<Self, ArrowError> {
        let schema = reader.schema();
        let first = if kind == Kind::Spans { 2 } else { 1 };
        if schema.fields().len() < first + partitions {
            let found = schema.fields().len();
            return Err(fail(format!(
                "{role} input has {found} columns, expected at least {}",
                first + partitions
            )));
        }
        for (field, what) in schema.fields().iter().zip(["_ts", "_duration"]).take(first) {
            if *field.data_type() != DataType::Int64 {
                return Err(fail(format!(
                    "`{what}` of the {role} input is {}, expected Int64",
                    field.data_type()
                )));
            }
        }
        let chunk = Chunk {
            ts: ScalarBuffer::from(Vec::new()),
            end: Vec::new(),
            code: Vec::new(),
            base: 0,
        };
        let held = Held::default();
        Ok(Self {
            reader,
            kind,
            partitions,
            role,
            cancel,
            rest: None,
            last: i64::MIN,
            held,
            chunk,
            pos: 0,
            done: false,
        })
    }

    fn first(&self) -> usize {
        if self.kind == Kind::Spans { 2 } else { 1 }
    }

    pub fn role(&self) -> &'static str {
        self.role
    }

    /// Types of the partition columns.
    pub fn partition_types(&self) -> Vec<DataType> {
        let schema = self.reader.schema();
        schema
            .fields()
            .iter()
            .skip(self.first())
            .take(self.partitions)
            .map(|field| field.data_type().clone())
            .collect()
    }

    /// Fields of the partition columns.
    pub fn partition_fields(&self) -> Vec<FieldRef> {
        self.reader
            .schema()
            .fields()
            .iter()
            .skip(self.first())
            .take(self.partitions)
            .cloned()
            .collect()
    }

    /// Fields of the columns after time and partition.
    pub fn payload_fields(&self) -> Vec<FieldRef> {
        self.reader
            .schema()
            .fields()
            .iter()
            .skip(self.first() + self.partitions)
            .cloned()
            .collect()
    }

    /// The time of the next row; `i64::MAX` after the last, which no span can have.
    #[inline]
    pub fn time(&self) -> i64 {
        self.chunk.ts.get(self.pos).copied().unwrap_or(i64::MAX)
    }

    /// Whether the current chunk is used up.
    #[inline]
    pub fn empty(&self) -> bool {
        self.pos >= self.chunk.ts.len()
    }

    /// Whether the current chunk is used up and another may follow.
    #[inline]
    pub fn starved(&self) -> bool {
        self.empty() && !self.done
    }

    /// Loads chunks until there is a next row or the input has ended.
    pub fn fill(&mut self, partitions: &mut Partitions) -> Result<(), ArrowError> {
        while self.starved() {
            self.cancel.check()?;
            match self.pull()? {
                Some(batch) => self.load(&batch, partitions)?,
                None => {
                    self.done = true;
                    self.chunk = Chunk {
                        ts: ScalarBuffer::from(Vec::new()),
                        end: Vec::new(),
                        code: Vec::new(),
                        base: 0,
                    };
                    self.pos = 0;
                }
            }
        }
        Ok(())
    }

    fn pull(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match self.reader.next() {
                Some(batch) => batch.map_err(|error| upstream(&error))?,
                None => return Ok(None),
            },
        };
        if batch.num_rows() <= ROWS {
            return Ok(Some(batch));
        }
        self.rest = Some(batch.slice(ROWS, batch.num_rows() - ROWS));
        Ok(Some(batch.slice(0, ROWS)))
    }

    fn load(&mut self, batch: &RecordBatch, partitions: &mut Partitions) -> Result<(), ArrowError> {
        let first = self.first();
        let columns = batch.columns();
        let ts = times(&columns[0], "_ts", self.role)?;
        self.check_order(&ts)?;
        let keys = &columns[first..first + self.partitions];
        let code = if keys.is_empty() {
            vec![0; ts.len()]
        } else {
            partitions.encode(keys, ts.len())?
        };
        let end = match self.kind {
            Kind::Events => Vec::new(),
            Kind::Spans => self.ends(&ts, &columns[1], &code, partitions)?,
        };
        let base = self
            .held
            .push(ts.clone(), columns[first + self.partitions..].to_vec());
        self.chunk = Chunk {
            ts,
            end,
            code,
            base,
        };
        self.pos = 0;
        Ok(())
    }

    fn check_order(&mut self, ts: &[i64]) -> Result<(), ArrowError> {
        let Some((&first, &last)) = ts.first().zip(ts.last()) else {
            return Ok(());
        };
        if first < self.last || !ts.is_sorted() {
            let before = std::iter::once(&self.last).chain(ts);
            let bad = before.zip(ts).find(|(before, after)| before > after);
            let (before, after) = bad.unwrap_or((&self.last, &first));
            return Err(fail(format!(
                "rows are not sorted by time: {after} comes after {before} ({} input)",
                self.role
            )));
        }
        self.last = last;
        Ok(())
    }

    fn ends(
        &self,
        ts: &[i64],
        durations: &ArrayRef,
        code: &[u32],
        partitions: &mut Partitions,
    ) -> Result<Vec<i64>, ArrowError> {
        let durations = times(durations, "_duration", self.role)?;
        let mut bad = false;
        let add = |(&ts, &duration): (&i64, &i64)| {
            let (end, overflow) = ts.overflowing_add(duration);
            bad |= overflow | (duration <= 0);
            end
        };
        let ends = ts.iter().zip(durations.iter()).map(add).collect();
        if !bad {
            return Ok(ends);
        }
        for ((&ts, &duration), &code) in ts.iter().zip(durations.iter()).zip(code) {
            let place = self.place(code, partitions)?;
            if duration <= 0 {
                let text = format!(
                    "span at {ts}{place} has duration {duration}, expected > 0 ({} input)",
                    self.role
                );
                return Err(fail(text));
            }
            if ts.checked_add(duration).is_none() {
                let text = format!(
                    "span at {ts}{place} has duration {duration}: its end overflows ({} input)",
                    self.role
                );
                return Err(fail(text));
            }
        }
        Ok(ends)
    }

    /// Names a row's partition in an error; nothing where this input has none.
    pub fn place(&self, code: u32, partitions: &mut Partitions) -> Result<String, ArrowError> {
        if self.partitions == 0 {
            Ok(String::new())
        } else {
            partitions.describe(code)
        }
    }

    /// Tells of a span that begins at the next row while another of its partition is open.
    #[cold]
    pub fn overlap(&self, open: &Open, row: usize, partitions: &mut Partitions) -> ArrowError {
        let (ts, end) = (self.chunk.ts[row], self.chunk.end[row]);
        match self.place(self.chunk.code[row], partitions) {
            Ok(place) => fail(format!(
                "spans overlap{place}: [{}, {}) and [{ts}, {end}) ({} input)",
                self.held.time(open.row),
                open.end,
                self.role
            )),
            Err(error) => error,
        }
    }
}

/// A span that was met last in some partition: it is open at `t` while `t < end`.
#[derive(Clone, Copy)]
pub struct Open {
    pub end: i64,
    pub row: u64,
}

impl Open {
    /// No span was met yet.
    pub const NEVER: Self = Self {
        end: i64::MIN,
        row: NULL_ROW,
    };

    /// Its row where it is open at `t`, the NULL row elsewhere.
    #[inline]
    pub fn row_at(&self, t: i64) -> u64 {
        if self.end > t { self.row } else { NULL_ROW }
    }
}

fn times(column: &ArrayRef, name: &str, role: &str) -> Result<ScalarBuffer<i64>, ArrowError> {
    let Some(column) = column.as_primitive_opt::<Int64Type>() else {
        return Err(fail(format!(
            "`{name}` of the {role} input is {}, expected Int64",
            column.data_type()
        )));
    };
    if column.null_count() > 0 {
        let row = column
            .nulls()
            .and_then(|nulls| (0..column.len()).find(|&row| nulls.is_null(row)))
            .unwrap_or(0);
        return Err(fail(format!(
            "`{name}` is NULL in row {row} of a batch ({role} input)"
        )));
    }
    Ok(column.values().clone())
}

/// The payload columns of chunks that rows may still be needed from.
#[derive(Default)]
pub struct Held {
    first: u32,
    chunks: VecDeque<Option<Rows>>,
    rows: usize,
    limit: usize,
}

struct Rows {
    ts: ScalarBuffer<i64>,
    payload: Vec<ArrayRef>,
}

impl Held {
    fn push(&mut self, ts: ScalarBuffer<i64>, payload: Vec<ArrayRef>) -> u64 {
        let number = self.first + self.chunks.len() as u32;
        self.rows += ts.len();
        self.chunks.push_back(Some(Rows { ts, payload }));
        u64::from(number) << 32
    }

    fn get(&self, number: u32) -> Option<&Rows> {
        self.chunks
            .get(number.wrapping_sub(self.first) as usize)?
            .as_ref()
    }

    fn time(&self, row: u64) -> i64 {
        self.get((row >> 32) as u32)
            .and_then(|rows| rows.ts.get(row as u32 as usize))
            .copied()
            .unwrap_or(i64::MIN)
    }

    /// One payload column of the chunk with this number.
    pub fn column(&self, number: u32, column: usize) -> Option<&ArrayRef> {
        self.get(number)?.payload.get(column)
    }

    /// Whether so much is held that it pays to look for what is not needed any more.
    pub fn is_full(&self) -> bool {
        self.rows > self.limit.max(4 * ROWS)
    }

    /// Drops the chunks that no row of `needed` is from, except the newest.
    pub fn retain(&mut self, needed: impl Iterator<Item = u64>) {
        let mut keep = vec![false; self.chunks.len()];
        for row in needed.filter(|&row| row != NULL_ROW) {
            if let Some(flag) = keep.get_mut(((row >> 32) as u32).wrapping_sub(self.first) as usize)
            {
                *flag = true;
            }
        }
        if let Some(newest) = keep.last_mut() {
            *newest = true;
        }
        for (chunk, keep) in self.chunks.iter_mut().zip(keep) {
            if !keep && let Some(rows) = chunk.take() {
                self.rows -= rows.ts.len();
            }
        }
        while let Some(None) = self.chunks.front() {
            self.chunks.pop_front();
            self.first += 1;
        }
        self.limit = 2 * self.rows;
    }
}
