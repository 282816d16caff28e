//! Pieces of an input within a grouper's spans -> rows by group, with one row where a partition has no piece.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};

use super::gather::gather;
use super::held::NULL_ROW;
use super::partition::Partitions;
use super::source::{Kind, Open, ROWS, Source};
use super::stream::{int64, made, nullable, partitions, schema};

/// Gaps up to this many groups are filled at once, longer ones at the end, so that a batch cannot grow without bound.
const SHORT: usize = 16;

/// A partition that no row was of yet.
const UNSEEN: usize = usize::MAX;

/// The two inputs, every grouper row met so far, and the rows that wait for their batch.
pub struct Groups {
    pub input: Source,
    pub grouper: Source,
    pub partitions: Partitions,
    pub ts: Vec<i64>,
    pub duration: Vec<i64>,
    kind: Kind,
    grouper_rows: Vec<u64>,
    /// For each partition the first group that has no row of it yet.
    next: Vec<usize>,
    order: Vec<u32>,
    gaps: VecDeque<(u32, usize, usize)>,
    out: Out,
    ended: bool,
    fields: [Vec<FieldRef>; 2],
}

#[derive(Default)]
struct Out {
    group: Vec<usize>,
    code: Vec<u32>,
    ts: Vec<i64>,
    duration: Vec<i64>,
    row: Vec<u64>,
}

impl Groups {
    pub fn new(
        input: Source,
        grouper: Source,
        kind: Kind,
        names: &[String],
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let fields = [grouper.payload_fields(), input.payload_fields()];
        let partitions = partitions(names, 3 + fields[0].len(), input.partition_types())?;
        let mut all = vec![made(DataType::Int64, false); 3];
        all.extend(nullable(fields[0].clone()));
        all.extend(nullable(input.partition_fields()));
        all.extend([made(DataType::Boolean, false), made(DataType::Int64, true)]);
        if kind == Kind::Spans {
            all.push(made(DataType::Int64, true));
        }
        all.extend(nullable(fields[1].clone()));
        let schema = schema(all, names)?;
        let mut groups = Self {
            input,
            grouper,
            partitions,
            ts: Vec::new(),
            duration: Vec::new(),
            kind,
            grouper_rows: Vec::new(),
            next: Vec::new(),
            order: Vec::new(),
            gaps: VecDeque::new(),
            out: Out::default(),
            ended: false,
            fields,
        };
        groups.grow();
        if groups.partitions.len() == 1 {
            groups.see(0);
        }
        Ok((groups, schema))
    }

    /// Loads what comes next of either input.
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

    /// Whether a chunk is used up that has a successor.
    pub fn starved(&self) -> bool {
        self.input.starved() || self.grouper.starved()
    }

    pub fn is_full(&self) -> bool {
        self.out.code.len() >= ROWS
    }

    /// Takes the grouper's next row; `open` is the one before.
    pub fn begin_group(&mut self, open: &Open) -> Result<Open, ArrowError> {
        let (row, ts) = (self.grouper.pos, self.grouper.time());
        if open.end > ts {
            return Err(self.grouper.overlap(open, row, &mut self.partitions));
        }
        let begun = Open {
            end: self.grouper.chunk.end[row],
            row: self.grouper.chunk.base + row as u64,
        };
        self.ts.push(ts);
        self.duration.push(begun.end - ts);
        self.grouper_rows.push(begun.row);
        self.grouper.pos += 1;
        Ok(begun)
    }

    /// Notes that there are rows of a partition.
    #[inline]
    pub fn see(&mut self, code: u32) {
        let next = &mut self.next[code as usize];
        if *next == UNSEEN {
            *next = 0;
            self.order.push(code);
        }
    }

    /// Adds a piece in the newest group.
    #[inline]
    pub fn push(&mut self, code: u32, ts: i64, end: i64, row: u64) {
        let group = self.ts.len() - 1;
        let next = self.next[code as usize];
        if next < group {
            self.gap(code, next, group);
        }
        self.next[code as usize] = group + 1;
        self.out.push(group, code, (ts, end - ts), row);
    }

    fn gap(&mut self, code: u32, from: usize, to: usize) {
        if to - from <= SHORT {
            (from..to).for_each(|group| self.out.push(group, code, (0, 0), NULL_ROW));
        } else {
            self.gaps.push_back((code, from, to));
        }
    }

    /// Fills the gaps that were left, after both inputs have ended; false when nothing is left to do.
    pub fn finish(&mut self) -> bool {
        if !self.ended {
            self.ended = true;
            let (total, next) = (self.ts.len(), &self.next);
            self.gaps.extend(
                self.order
                    .iter()
                    .map(|&code| (code, next[code as usize], total)),
            );
        }
        while let Some((code, from, to)) = self.gaps.pop_front() {
            let now = to.min(from + ROWS);
            (from..now).for_each(|group| self.out.push(group, code, (0, 0), NULL_ROW));
            if now < to {
                self.gaps.push_front((code, now, to));
            }
            if self.is_full() {
                break;
            }
        }
        !self.out.code.is_empty()
    }

    /// Drops the chunks of the input that nothing is needed from; the grouper's stay for groups without a piece.
    pub fn release(&mut self, open: impl Iterator<Item = u64>) {
        if self.input.held.is_full() {
            self.input
                .held
                .retain(open.chain(self.out.row.iter().copied()));
        }
    }

    /// Turns the rows that wait into the columns of a batch.
    pub fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let pick = |values: &[i64]| int64(out.group.iter().map(|&group| values[group]).collect());
        let group_rows: Vec<u64> = out
            .group
            .iter()
            .map(|&group| self.grouper_rows[group])
            .collect();
        let mut columns = vec![int64(out.group.iter().map(|&group| group as i64).collect())];
        columns.extend([pick(&self.ts), pick(&self.duration)]);
        columns.extend(gather(&self.grouper.held, &self.fields[0], &group_rows)?);
        columns.extend(self.partitions.columns(out.code)?);
        let present = BooleanBuffer::collect_bool(out.row.len(), |row| out.row[row] != NULL_ROW);
        let nulls = Some(NullBuffer::new(present.clone())).filter(|nulls| nulls.null_count() > 0);
        columns.push(Arc::new(BooleanArray::new(present, None)));
        columns.push(Arc::new(Int64Array::new(out.ts.into(), nulls.clone())));
        if self.kind == Kind::Spans {
            columns.push(Arc::new(Int64Array::new(out.duration.into(), nulls)));
        }
        columns.extend(gather(&self.input.held, &self.fields[1], &out.row)?);
        Ok(columns)
    }
}

impl Out {
    #[inline]
    fn push(&mut self, group: usize, code: u32, piece: (i64, i64), row: u64) {
        self.group.push(group);
        self.code.push(code);
        self.ts.push(piece.0);
        self.duration.push(piece.1);
        self.row.push(row);
    }
}
