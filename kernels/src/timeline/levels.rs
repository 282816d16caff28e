//! A counter at a coarse scale: its values in each step.

use super::cells::Window;
use super::lane::Lane;
use super::worth::Values;

/// A counter's values in a step, or in several steps with a constant value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub begin: i64,
    pub end: i64,
    /// Rows that begin in it.
    pub count: usize,
    /// The last row that extends into it.
    pub row: usize,
    /// The minimum, the maximum, the last value and the mean over time; None if none is known.
    pub values: Option<[f64; 4]>,
}

impl Lane<Values> {
    /// Pass the steps of a window in which a counter has rows to a function, in order of time.
    ///
    /// A step without a start of a row is merged with those after it, up to the step of the next start.
    pub fn levels(&self, window: Window, mut each: impl FnMut(Level)) {
        let times = self.times();
        let start = window.start(window.from);
        let last = window.to.checked_sub(1).and_then(|time| window.next(time));
        let (mut row, mut end) = self.order.touching(start, last.unwrap_or(i64::MAX));
        if last.is_none() {
            end = times.len();
        }
        let last = last.unwrap_or(i64::MAX);
        // The row that began before the step, and the time from which it counts.
        let mut carried: Option<(usize, i64)> = None;
        if row < end && times.begin(row) < start {
            carried = Some((row, start));
            row += 1;
        }
        // Steps have about as many rows as the steps before them.
        let mut ahead = 0;
        loop {
            let next = if row < end { times.begin(row) } else { last };
            if let Some((before, from)) = carried {
                // Whole steps without a start of a row.
                let until = if row < end { window.start(next) } else { last };
                let until = until.min(times.end(before)).min(last);
                if until > from {
                    each(self.level(Some((before, from)), row, row, until));
                    carried = (times.end(before) > until).then_some((before, until));
                }
            }
            if row >= end {
                return;
            }
            let stop = window.next(next);
            let behind = stop.map_or(end, |time| self.order.first_near(row, time, ahead).min(end));
            let stop = stop.unwrap_or(i64::MAX);
            each(self.level(carried, row, behind, stop));
            ahead = behind - row;
            let latest = behind - 1;
            carried = (times.end(latest) > stop).then_some((latest, stop));
            row = behind;
        }
    }

    /// Combine a row that began before and the rows that begin in a step, up to its end.
    fn level(&self, carried: Option<(usize, i64)>, first: usize, behind: usize, stop: i64) -> Level {
        let (times, values) = (self.times(), &self.worth().0);
        let mut sum = [0; Values::WIDTH];
        let mut row = first;
        if let Some((before, from)) = carried {
            self.part(before, from, stop, &mut sum);
            row = before;
        }
        if first < behind {
            row = behind - 1;
            self.gather(first, row, &mut sum);
            self.part(row, times.begin(row), stop, &mut sum);
        }
        let last = || {
            let known = |row: &usize| !values[*row].is_nan();
            let own = (first..behind).rev().find(known);
            own.or(carried.map(|(row, _)| row)).map_or(f64::NAN, |row| values[row])
        };
        let number = f64::from_bits;
        Level {
            begin: carried.map_or_else(|| times.begin(first), |(_, from)| from),
            end: times.end(row).min(stop),
            count: behind - first,
            row,
            values: (sum[0] != 0).then(|| {
                let last = last();
                let mean = if sum[4] == 0 { last } else { number(sum[3]) / sum[4] as f64 };
                [number(sum[1]), number(sum[2]), last, mean]
            }),
        }
    }

    /// Aggregate the part of a row between two times.
    fn part(&self, row: usize, from: i64, stop: i64, sum: &mut [u64]) {
        let length = self.times().end(row).min(stop) - from;
        let value = self.worth().0[row];
        self.worth().append_value(value, length.cast_unsigned(), sum);
    }
}
