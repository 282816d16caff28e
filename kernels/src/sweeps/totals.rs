//! Aggregate pieces of groups into one row per group and partition.

use arrow_array::Int64Array;
use arrow_schema::{ArrowError, DataType, FieldRef};

use super::aggregates::{Aggregate, AggregateInput};
use super::fold::{Batch, Fold};
use super::gather::gather_some;
use super::groups::{GroupedRows, Members};
use super::held::Held;
use super::source::ROWS;
use super::stream::made;

/// A partition without slot.
const NO_SLOT: u32 = u32::MAX;

/// Pieces to be aggregated, and a slot for every row of the output that is not emitted yet.
#[derive(Default)]
pub struct Totals {
    folds: Vec<Fold>,
    pieces: Pieces,
    /// Group and partition of each slot.
    group: Vec<usize>,
    code: Vec<u32>,
    /// The latest slot of each partition.
    last: Vec<u32>,
    /// Slots that were open at the last flush.
    kept: usize,
}

#[derive(Default)]
struct Pieces {
    slot: Vec<u32>,
    ts: Vec<i64>,
    duration: Vec<i64>,
    row: Vec<u64>,
}

impl Totals {
    pub fn new(aggregates: Vec<Aggregate>) -> Result<Self, ArrowError> {
        let folds = aggregates.into_iter().map(Fold::new);
        Ok(Self { folds: folds.collect::<Result<_, _>>()?, ..Self::default() })
    }

    fn begin(&mut self, group: usize, code: u32) -> u32 {
        self.group.push(group);
        self.code.push(code);
        self.group.len() as u32 - 1
    }

    /// Aggregate the waiting pieces.
    fn fold(&mut self, held: &Held) -> Result<(), ArrowError> {
        let pieces = std::mem::take(&mut self.pieces);
        let (ts, duration) = (Int64Array::from(pieces.ts), Int64Array::from(pieces.duration));
        let batch = Batch { slot: &pieces.slot, ts: &ts, duration: &duration, slots: self.group.len() };
        let mut wanted: Vec<(usize, &DataType)> = Vec::new();
        for fold in &self.folds {
            if let AggregateInput::Column(column) = fold.aggregate.taken
                && !wanted.iter().any(|(known, _)| *known == column)
            {
                wanted.push((column, &fold.aggregate.data_type));
            }
        }
        let columns = gather_some(held, &wanted, &pieces.row)?;
        let known: Vec<usize> = wanted.iter().map(|(column, _)| *column).collect();
        for fold in &mut self.folds {
            let column = match fold.aggregate.taken {
                AggregateInput::Column(column) => known.iter().position(|&known| known == column),
                _ => None,
            };
            fold.add(&batch, column.map(|place| &columns[place]))?;
        }
        Ok(())
    }
}

impl Members for Totals {
    const NUMBERED: bool = false;

    fn fields(&self) -> Vec<FieldRef> {
        let field = |fold: &Fold| made(fold.aggregate.result.clone(), true);
        self.folds.iter().map(field).collect()
    }

    #[inline]
    fn piece(&mut self, group: usize, code: u32, (ts, duration): (i64, i64), row: u64) {
        if self.last.len() <= code as usize {
            self.last.resize(code as usize + 1, NO_SLOT);
        }
        let mut slot = self.last[code as usize];
        if self.group.get(slot as usize) != Some(&group) {
            slot = self.begin(group, code);
            self.last[code as usize] = slot;
        }
        self.pieces.slot.push(slot);
        self.pieces.ts.push(ts);
        self.pieces.duration.push(duration);
        self.pieces.row.push(row);
    }

    fn absent(&mut self, group: usize, code: u32) {
        self.begin(group, code);
    }

    fn is_full(&self) -> bool {
        self.pieces.slot.len() >= ROWS || self.group.len() - self.kept >= 2 * ROWS
    }

    fn is_empty(&self) -> bool {
        self.group.is_empty()
    }

    fn rows(&self) -> impl Iterator<Item = u64> {
        self.pieces.row.iter().copied()
    }

    fn flush(&mut self, held: &Held, open: Option<usize>) -> Result<GroupedRows, ArrowError> {
        self.fold(held)?;
        let slots = 0..self.group.len() as u32;
        let (keep, done): (Vec<u32>, Vec<u32>) = slots.partition(|&slot| open == Some(self.group[slot as usize]));
        let columns = self.folds.iter_mut().map(|fold| fold.take(&done, &keep));
        let columns = columns.collect::<Result<_, _>>()?;
        let pick = |places: &[u32]| -> (Vec<usize>, Vec<u32>) {
            let place = |&slot: &u32| (self.group[slot as usize], self.code[slot as usize]);
            places.iter().map(place).unzip()
        };
        let ((group, code), rest) = (pick(&done), pick(&keep));
        (self.group, self.code) = rest;
        self.kept = self.group.len();
        self.last.fill(NO_SLOT);
        for (slot, &code) in self.code.iter().enumerate() {
            if let Some(last) = self.last.get_mut(code as usize) {
                *last = slot as u32;
            }
        }
        Ok(GroupedRows { group, code, columns })
    }
}
