//! Merge pushes and pops, two streams sorted by time, into one; pops precede pushes of equal time and rank.

use arrow_array::RecordBatchReader;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::{ArrowError, DataType};

use super::cancel::Token;
use super::failure::fail;
use super::partition::Partitions;
use super::source::{ChunkedInput, Kind};

/// One event, with the code of its partition.
#[derive(Clone, Copy)]
pub enum Move {
    /// `row` is the reference to its payload, `place` its place in the chunk of pushes.
    Push { t: i64, code: u32, row: u64, place: usize },
    /// `row` is the reference to its payload, if pops have any.
    Pop { t: i64, code: u32, row: u64 },
}

/// The merged events; with ranks, the first payload column of both inputs orders events of equal time, NULL last.
pub struct Moves {
    pub pushes: ChunkedInput,
    pub pops: ChunkedInput,
    ranked: bool,
    push_ranks: Vec<i64>,
    pop_ranks: Vec<i64>,
}

type Reader = Box<dyn RecordBatchReader + Send>;

impl Moves {
    pub fn new(
        pushes: Reader,
        pops: Reader,
        partitions: usize,
        ranked: bool,
        cancel: &Token,
    ) -> Result<Self, ArrowError> {
        let open = |reader, role| {
            let source = ChunkedInput::new(reader, Kind::Events, partitions, role, cancel.clone())?;
            let rank = source.payload_fields().first().cloned();
            if ranked && rank.is_none_or(|field| *field.data_type() != DataType::Int64) {
                return Err(fail(format!("the {role} input has no rank of type Int64")));
            }
            Ok(source)
        };
        Ok(Self {
            pushes: open(pushes, "start")?,
            pops: open(pops, "stop")?,
            ranked,
            push_ranks: Vec::new(),
            pop_ranks: Vec::new(),
        })
    }

    /// The number of payload columns of the pushes that are not used by the sweep itself.
    pub fn own(&self) -> usize {
        usize::from(self.ranked)
    }

    /// Fails unless both inputs are partitioned alike.
    pub fn check(&self, partitions: &Partitions) -> Result<(), ArrowError> {
        partitions.check_types(&self.pops.partition_types(), self.pops.role())
    }

    /// Whether all events have been returned, after `fill`.
    pub fn done(&self) -> bool {
        self.pushes.done && self.pops.done
    }

    /// Loads the input for the next event; returns whether a new chunk of pushes was loaded.
    pub fn fill(&mut self, partitions: &mut Partitions) -> Result<bool, ArrowError> {
        let fresh = self.pushes.starved();
        if fresh {
            self.pushes.fill(partitions)?;
            self.push_ranks = self.ranks(&self.pushes)?;
        }
        if self.pops.starved() {
            self.pops.fill(partitions)?;
            self.pop_ranks = self.ranks(&self.pops)?;
            if self.pops.payload_fields().len() <= self.own() {
                // Rows of pops are not needed later.
                self.pops.held.retain(std::iter::empty());
            }
        }
        Ok(fresh && !self.pushes.done)
    }

    fn ranks(&self, source: &ChunkedInput) -> Result<Vec<i64>, ArrowError> {
        if !self.ranked || source.done {
            return Ok(Vec::new());
        }
        let column = source.payload_column(0)?;
        let ranks =
            column.as_primitive_opt::<Int64Type>().ok_or_else(|| fail("a batch differs from its stream's schema"))?;
        Ok(ranks.iter().map(|rank| rank.unwrap_or(i64::MAX)).collect())
    }

    /// The next event; None where a chunk is used up, or after the last.
    #[inline]
    pub fn next(&mut self) -> Option<Move> {
        if self.pushes.starved() || self.pops.starved() {
            return None;
        }
        if self.pop_is_next() {
            let chunk = &self.pops.chunk;
            let (t, code) = (self.pops.time(), chunk.code[self.pops.pos]);
            let row = chunk.base + self.pops.pos as u64;
            self.pops.pos += 1;
            return Some(Move::Pop { t, code, row });
        }
        if self.pushes.empty() {
            return None;
        }
        let place = self.pushes.pos;
        self.pushes.pos += 1;
        let chunk = &self.pushes.chunk;
        Some(Move::Push { t: chunk.ts[place], code: chunk.code[place], row: chunk.base + place as u64, place })
    }

    #[inline]
    fn pop_is_next(&self) -> bool {
        if self.pops.empty() || self.pushes.empty() {
            return !self.pops.empty();
        }
        let (push, pop) = (self.pushes.time(), self.pops.time());
        if push != pop || !self.ranked {
            return pop <= push;
        }
        self.pop_ranks[self.pops.pos] <= self.push_ranks[self.pushes.pos]
    }
}
