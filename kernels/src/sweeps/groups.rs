//! Group the pieces of an input within a grouper's spans into rows, for every partition that occurs.

use std::collections::VecDeque;

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};

use super::gather::gather;
use super::held::Held;
use super::partition::Partitions;
use super::source::{ChunkedInput, Open, ROWS};
use super::stream::{int64, made, nullable, partitions, schema};

/// Gaps up to this many groups are filled at once, longer ones at the end, so that a batch cannot grow without bound.
const SHORT: usize = 16;

/// A partition without rows so far.
const UNSEEN: usize = usize::MAX;

/// The consumer of the pieces of groups.
pub trait Members: Send {
    /// Whether a first column numbers the groups.
    const NUMBERED: bool;
    /// The columns it adds to a group's own and its partition.
    fn fields(&self) -> Vec<FieldRef>;
    /// A piece of the newest group: its partition, its time and duration, and the input's row.
    fn piece(&mut self, group: usize, code: u32, times: (i64, i64), row: u64);
    /// A partition has no piece in a group.
    fn absent(&mut self, group: usize, code: u32);
    /// Whether enough rows wait for a flush.
    fn is_full(&self) -> bool;
    fn is_empty(&self) -> bool;
    /// The input's rows that are still needed.
    fn rows(&self) -> impl Iterator<Item = u64>;
    /// The rows of a batch; more pieces may follow for the group `open`.
    fn flush(&mut self, held: &Held, open: Option<usize>) -> Result<GroupedRows, ArrowError>;
}

/// Rows of a batch: their groups, their partitions and the further columns.
pub struct GroupedRows {
    pub group: Vec<usize>,
    pub code: Vec<u32>,
    pub columns: Vec<ArrayRef>,
}

/// The two inputs, all grouper rows so far, and the consumer of the pieces.
pub struct Groups<M> {
    pub input: ChunkedInput,
    pub grouper: ChunkedInput,
    pub partitions: Partitions,
    pub ts: Vec<i64>,
    pub duration: Vec<i64>,
    grouper_rows: Vec<u64>,
    /// For each partition the first group that has no row of it yet.
    next: Vec<usize>,
    order: Vec<u32>,
    gaps: VecDeque<(u32, usize, usize)>,
    members: M,
    ended: bool,
    fields: Vec<FieldRef>,
}

impl<M: Members> Groups<M> {
    pub fn new(
        input: ChunkedInput,
        grouper: ChunkedInput,
        members: M,
        names: &[String],
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let fields = grouper.payload_fields();
        let own = 2 + usize::from(M::NUMBERED);
        let partitions = partitions(names, own + fields.len(), input.partition_types())?;
        let mut all = vec![made(DataType::Int64, false); own];
        all.extend(nullable(fields.clone()));
        all.extend(nullable(input.partition_fields()));
        all.extend(members.fields());
        let schema = schema(all, names)?;
        let mut groups = Self {
            input,
            grouper,
            partitions,
            ts: Vec::new(),
            duration: Vec::new(),
            grouper_rows: Vec::new(),
            next: Vec::new(),
            order: Vec::new(),
            gaps: VecDeque::new(),
            members,
            ended: false,
            fields,
        };
        groups.grow();
        if groups.partitions.len() == 1 {
            groups.see(0);
        }
        Ok((groups, schema))
    }

    /// Loads the next rows of either input.
    pub fn fill(&mut self) -> Result<(), ArrowError> {
        self.input.fill(&mut self.partitions)?;
        self.grouper.fill(&mut self.partitions)?;
        self.grow();
        Ok(())
    }

    fn grow(&mut self) {
        self.next.resize(self.partitions.len(), UNSEEN);
    }

    pub fn done(&self) -> bool {
        self.input.done && self.grouper.done
    }

    /// Whether a chunk is used up and another follows.
    pub fn starved(&self) -> bool {
        self.input.starved() || self.grouper.starved()
    }

    pub fn is_full(&self) -> bool {
        self.members.is_full()
    }

    /// Take the grouper's next row; `open` is the one before.
    pub fn begin_group(&mut self, open: &Open) -> Result<Open, ArrowError> {
        let (row, ts) = (self.grouper.pos, self.grouper.time());
        if open.end > ts {
            return Err(self.grouper.overlap(open, row, &mut self.partitions));
        }
        let begun = Open { end: self.grouper.chunk.end[row], row: self.grouper.chunk.base + row as u64 };
        self.ts.push(ts);
        self.duration.push(begun.end - ts);
        self.grouper_rows.push(begun.row);
        self.grouper.pos += 1;
        Ok(begun)
    }

    /// Records that a partition has rows.
    #[inline]
    pub fn see(&mut self, code: u32) {
        let next = &mut self.next[code as usize];
        if *next == UNSEEN {
            *next = 0;
            self.order.push(code);
        }
    }

    /// Add a piece in the newest group.
    #[inline]
    pub fn push(&mut self, code: u32, ts: i64, end: i64, row: u64) {
        let group = self.ts.len() - 1;
        let next = self.next[code as usize];
        if next < group {
            self.gap(code, next, group);
        }
        self.next[code as usize] = group + 1;
        self.members.piece(group, code, (ts, end - ts), row);
    }

    fn gap(&mut self, code: u32, from: usize, to: usize) {
        if to - from <= SHORT {
            (from..to).for_each(|group| self.members.absent(group, code));
        } else {
            self.gaps.push_back((code, from, to));
        }
    }

    /// Fill the gaps that were left, after both inputs have ended; return false when none is left.
    pub fn finish(&mut self) -> bool {
        if !self.ended {
            self.ended = true;
            let (total, next) = (self.ts.len(), &self.next);
            self.gaps.extend(self.order.iter().map(|&code| (code, next[code as usize], total)));
        }
        while let Some((code, from, to)) = self.gaps.pop_front() {
            let now = to.min(from + ROWS);
            (from..now).for_each(|group| self.members.absent(group, code));
            if now < to {
                self.gaps.push_front((code, now, to));
            }
            if self.is_full() {
                break;
            }
        }
        !self.members.is_empty()
    }

    /// Drops the chunks of the input that are not needed any more; the grouper's stay for groups without a piece.
    pub fn release(&mut self, open: impl Iterator<Item = u64>) {
        if self.input.held.is_full() {
            self.input.held.retain(open.chain(self.members.rows()));
        }
    }

    /// Turns the rows that wait into the columns of a batch.
    pub fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let open = self.ts.len().checked_sub(1).filter(|_| !self.ended);
        let made = self.members.flush(&self.input.held, open)?;
        let pick = |values: &[i64]| int64(made.group.iter().map(|&group| values[group]).collect());
        let rows = made.group.iter().map(|&group| self.grouper_rows[group]);
        let mut columns = Vec::new();
        if M::NUMBERED {
            columns.push(int64(made.group.iter().map(|&group| group as i64).collect()));
        }
        columns.extend([pick(&self.ts), pick(&self.duration)]);
        let rows: Vec<u64> = rows.collect();
        columns.extend(gather(&self.grouper.held, &self.fields, &rows)?);
        columns.extend(self.partitions.columns(made.code)?);
        columns.extend(made.columns);
        Ok(columns)
    }
}
