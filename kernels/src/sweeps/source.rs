//! Read an Arrow stream of spans or events in checked chunks of times and partition codes, and refer to their rows.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, DataType, FieldRef};

use super::cancel::Token;
use super::checks::{Fault, ends};
use super::failure::{fail, upstream};
use super::held::{Held, NULL_ROW};
use super::partition::Partitions;
use crate::exchange::Reader;

/// Maximum number of rows of a chunk, and the approximate number of rows of an output batch.
pub const ROWS: usize = 1 << 16;

/// Number of events or spans between two looks for rows that are complete: few, so that those that wait stay in cache,
/// and little memory is touched for a short input.
pub const STEP: usize = 1 << 10;

/// The sorts of the first columns of an input.
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
pub struct ChunkedInput {
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

impl ChunkedInput {
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
            return Err(fail(format!("{role} input has {found} columns, expected at least {}", first + partitions)));
        }
        for (field, what) in schema.fields().iter().zip(["_ts", "_duration"]).take(first) {
            if *field.data_type() != DataType::Int64 {
                return Err(fail(format!("`{what}` of the {role} input is {}, expected Int64", field.data_type())));
            }
        }
        let chunk = Chunk { ts: ScalarBuffer::from(Vec::new()), end: Vec::new(), code: Vec::new(), base: 0 };
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
        schema.fields().iter().skip(self.first()).take(self.partitions).map(|field| field.data_type().clone()).collect()
    }

    /// Fields of the partition columns.
    pub fn partition_fields(&self) -> Vec<FieldRef> {
        self.reader.schema().fields().iter().skip(self.first()).take(self.partitions).cloned().collect()
    }

    /// Fields of the columns after time and partition.
    pub fn payload_fields(&self) -> Vec<FieldRef> {
        self.reader.schema().fields().iter().skip(self.first() + self.partitions).cloned().collect()
    }

    /// One payload column of the current chunk.
    pub fn payload_column(&self, column: usize) -> Result<&ArrayRef, ArrowError> {
        self.held.column((self.chunk.base >> 32) as u32, column).ok_or_else(|| fail("chunk was dropped"))
    }

    /// The time of the next row; after the last, `i64::MAX`, which is invalid for spans.
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
                    self.chunk =
                        Chunk { ts: ScalarBuffer::from(Vec::new()), end: Vec::new(), code: Vec::new(), base: 0 };
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
        let (own, rest) = batch.columns().split_at(first);
        let (keys, payload) = rest.split_at(self.partitions);
        let code =
            if keys.is_empty() { vec![0; batch.num_rows()] } else { partitions.encode(keys, batch.num_rows())? };
        let own = own.iter().map(|column| column.as_primitive_opt::<Int64Type>());
        let own = own.collect::<Option<Vec<_>>>();
        let own = own.ok_or_else(|| fail("a batch differs from its stream's schema"))?;
        let place = |row: usize| match code.get(row) {
            Some(&code) if !keys.is_empty() => partitions.describe(code),
            _ => Ok(String::new()),
        };
        let end = ends(&own, self.last, place).and_then(|end| end.map_err(|fault| self.refused(&fault)))?;
        let ts = own[0].values().clone();
        self.last = ts.last().copied().unwrap_or(self.last);
        let base = self.held.push(ts.clone(), payload.to_vec());
        self.chunk = Chunk { ts, end, code, base };
        self.pos = 0;
        Ok(())
    }

    /// Name a row's partition in an error; nothing where this input has none.
    pub fn place(&self, code: u32, partitions: &mut Partitions) -> Result<String, ArrowError> {
        if self.partitions == 0 { Ok(String::new()) } else { partitions.describe(code) }
    }

    /// Report a span that begins at the next row while another of its partition is open.
    #[cold]
    pub fn overlap(&self, open: &Open, row: usize, partitions: &mut Partitions) -> ArrowError {
        self.overlaps((self.held.time(open.row), open.end), row, partitions)
    }

    /// Likewise, where the times of the open span are known.
    #[cold]
    pub fn overlaps(&self, open: (i64, i64), row: usize, partitions: &mut Partitions) -> ArrowError {
        let span = (self.chunk.ts[row], self.chunk.end[row]);
        match self.place(self.chunk.code[row], partitions) {
            Ok(place) => self.refused(&Fault::overlap(open, span, &place)),
            Err(error) => error,
        }
    }

    /// Make an error of a fault.
    fn refused(&self, fault: &Fault) -> ArrowError {
        fail(format!("{fault} ({} input)", self.role))
    }
}

/// The latest span of a partition: it is open at `t` while `t < end`.
#[derive(Clone, Copy)]
pub struct Open {
    pub end: i64,
    pub row: u64,
}

impl Open {
    /// No span so far.
    pub const NEVER: Self = Self { end: i64::MIN, row: NULL_ROW };

    /// Its row if it is open at `t`, otherwise the NULL row.
    #[inline]
    pub fn row_at(&self, t: i64) -> u64 {
        if self.end > t { self.row } else { NULL_ROW }
    }
}
