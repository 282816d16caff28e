//! Put rows in time order on lanes, in which the rows of any window are contiguous, with aggregates of runs of rows.

use super::held::NULL_ROW;
use super::meter::hold;
use super::numbers::Number;
use super::range_values::{Function, Measure, Values};
use crate::forest::{Forest, Growing, Monoid};

/// Rows per leaf of a forest; rows at the ends of a range are visited one by one.
const BLOCK: usize = 32;

/// Rows that have a value.
pub struct Lane {
    ts: Vec<i64>,
    /// Ends of spans; empty for events.
    end: Vec<i64>,
    /// References to the values, if the aggregate picks one of them.
    row: Vec<u64>,
    values: Values,
    forest: Option<Forest<Box<dyn Monoid>, Growing>>,
}

/// The running aggregate of a window.
pub struct WindowState<'a> {
    pub count: u64,
    /// The aggregate, in the monoid's words.
    pub words: &'a mut [u64],
    /// Buffer for the value of a single row, as wide as `words`.
    pub unit: &'a mut [u64],
    /// Time and reference of the picked row.
    pub chosen: Option<(i64, u64)>,
}

impl WindowState<'_> {
    pub fn row(&self) -> u64 {
        self.chosen.map_or(NULL_ROW, |(_, row)| row)
    }
}

impl Lane {
    pub fn new(measure: &Measure) -> Self {
        Self { ts: Vec::new(), end: Vec::new(), row: Vec::new(), values: measure.values(), forest: None }
    }

    /// Add a row; an event has no end.
    #[inline]
    pub fn push(&mut self, (ts, end): (i64, Option<i64>), row: u64, value: Option<Number>, measure: &Measure) {
        self.ts.push(ts);
        self.end.extend(end);
        if measure.picks() {
            self.row.push(row);
        }
        if let Some(value) = value {
            self.values.push(value, measure.scale());
        }
    }

    /// Builds the forest, once all rows are there.
    pub fn finish(&mut self, measure: &Measure) {
        if !measure.computes() {
            return;
        }
        let monoid = measure.monoid();
        let width = monoid.width();
        let mut unit = vec![0; width];
        let whole = self.ts.len() / BLOCK;
        let mut leaves = vec![0; whole * width];
        for (leaf, words) in leaves.chunks_exact_mut(width).enumerate() {
            for row in leaf * BLOCK..(leaf + 1) * BLOCK {
                measure.write(self.values.get(row), &mut unit);
                monoid.append(words, &unit);
            }
        }
        let mut forest = Forest::sized(monoid, whole);
        forest.extend(&leaves);
        hold(16 * leaves.len() as i64);
        self.forest = Some(forest);
    }

    /// Add the rows in a window: events that it covers, and spans that share some time with it.
    pub fn add(&self, (begin, end): (i64, i64), measure: &Measure, state: &mut WindowState<'_>) {
        let first = if self.end.is_empty() {
            self.ts.partition_point(|&ts| ts < begin)
        } else {
            self.end.partition_point(|&stop| stop <= begin)
        };
        let last = self.ts.partition_point(|&ts| ts < end);
        if first >= last {
            return;
        }
        state.count += (last - first) as u64;
        match measure.function {
            Function::Count => (),
            Function::First => {
                let found = (self.ts[first], self.row[first]);
                state.chosen = Some(state.chosen.map_or(found, |best| best.min(found)));
            }
            Function::Last => {
                let found = (self.ts[last - 1], self.row[last - 1]);
                state.chosen = Some(state.chosen.map_or(found, |best| best.max(found)));
            }
            _ => self.gather((first, last), measure, state),
        }
    }

    fn gather(&self, (first, last): (usize, usize), measure: &Measure, state: &mut WindowState<'_>) {
        let Some(forest) = &self.forest else { return };
        let blocks = (first.div_ceil(BLOCK), last / BLOCK);
        if blocks.0 >= blocks.1 {
            self.each(first..last, forest, measure, state);
            return;
        }
        self.each(first..blocks.0 * BLOCK, forest, measure, state);
        forest.gather(blocks.0, blocks.1, state.words);
        self.each(blocks.1 * BLOCK..last, forest, measure, state);
    }

    fn each(
        &self,
        rows: std::ops::Range<usize>,
        forest: &Forest<Box<dyn Monoid>, Growing>,
        measure: &Measure,
        state: &mut WindowState<'_>,
    ) {
        for row in rows {
            measure.write(self.values.get(row), state.unit);
            forest.monoid.append(state.words, state.unit);
        }
    }

    /// The approximate bytes per row.
    pub fn bytes(&self) -> i64 {
        let value = match self.values {
            Values::None => 0,
            Values::Whole(_) | Values::Real(_) => 8,
            Values::Wide(_) => 16,
        };
        let words = self.ts.capacity() + self.end.capacity() + self.row.capacity();
        (8 * words + value * self.ts.capacity()) as i64
    }
}
