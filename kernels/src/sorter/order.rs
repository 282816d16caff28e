//! Order rows by their times, and return them piece by piece.

use std::ops::Range;

use super::ints::Ints;

/// At most one in `LATE` rows may be late for the others to count as sorted already; some more of the first rows.
const LATE: usize = 8;
const LATE_FIRST: usize = 64;
/// Average length from which stretches are copied faster than row by row.
const STRETCH: usize = 8;

/// Up to this many ascending runs are merged faster than their rows are sorted.
const RUNS: usize = 16;

/// Some rows, in their output order.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    Each(&'a [u32]),
    /// Stretches of consecutive rows.
    Stretches(&'a [Range<u32>]),
}

impl Rows<'_> {
    pub fn len(self) -> usize {
        match self {
            Rows::Each(rows) => rows.len(),
            Rows::Stretches(stretches) => stretches.iter().map(ExactSizeIterator::len).sum(),
        }
    }

    pub fn for_each(self, mut each: impl FnMut(usize)) {
        match self {
            Rows::Each(rows) => rows.iter().for_each(|row| each(*row as usize)),
            Rows::Stretches(stretches) => {
                let rows = stretches.iter().cloned().flatten();
                rows.for_each(|row| each(row as usize));
            }
        }
    }
}

enum Listed {
    Each(Vec<u32>),
    Stretches(Vec<Range<u32>>),
}

/// All rows of a table in the order of their output.
pub struct Order {
    listed: Listed,
    /// The next row, or stretch, in the list.
    at: usize,
    /// The stretches of the latest result.
    emitted: Vec<Range<u32>>,
}

impl Order {
    fn new(listed: Listed) -> Order {
        Order { listed, at: 0, emitted: Vec::new() }
    }

    /// Rows in their own order.
    pub fn of_all(rows: usize) -> Order {
        Order::new(Listed::Stretches(std::iter::once(0..rows as u32).collect()))
    }

    /// Rows in order of time, equal times in their own order.
    pub fn by_time(times: &Ints) -> Order {
        Order::new(match almost_sorted(times) {
            Some(stretches) => Listed::Stretches(stretches),
            None => Listed::Each(sorted(times)),
        })
    }

    /// Whether rows are scattered.
    pub fn is_scattered(&self) -> bool {
        matches!(self.listed, Listed::Each(_))
    }

    /// Take the next rows, at most `most`; none at the end.
    pub fn next(&mut self, most: usize) -> Rows<'_> {
        self.emitted.clear();
        match &mut self.listed {
            Listed::Each(rows) => {
                let rows = &rows[self.at..self.at.saturating_add(most).min(rows.len())];
                self.at += rows.len();
                let breaks = rows.windows(2).filter(|pair| pair[0] + 1 != pair[1]);
                if breaks.count() >= rows.len() / STRETCH {
                    return Rows::Each(rows);
                }
                let stretches = rows.chunk_by(|one, next| one + 1 == *next);
                self.emitted.extend(stretches.map(|rows| rows[0]..rows[0] + rows.len() as u32));
            }
            Listed::Stretches(stretches) => {
                let mut left = most;
                while left > 0
                    && let Some(stretch) = stretches.get_mut(self.at)
                {
                    let end = stretch.end.min(stretch.start.saturating_add(left as u32));
                    self.emitted.push(stretch.start..end);
                    left -= (end - stretch.start) as usize;
                    stretch.start = end;
                    self.at += usize::from(stretch.start == stretch.end);
                }
            }
        }
        Rows::Stretches(&self.emitted)
    }
}

/// The first of some rows with ascending times for which a condition fails, or their end.
fn first_not(mut rows: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    while rows.start < rows.end {
        let middle = rows.start.midpoint(rows.end);
        if holds(middle) {
            rows.start = middle + 1;
        } else {
            rows.end = middle;
        }
    }
    rows.start
}

/// Rows of ascending times, and the rows out of order with them.
#[derive(Default)]
struct Ascending {
    kept: Vec<Range<usize>>,
    late: Vec<(i64, u32)>,
}

impl Ascending {
    /// The number of kept rows later than a time; once it reaches `enough`, it need not be exact.
    fn later(&self, times: &Ints, time: i64, enough: usize) -> usize {
        let mut later = 0;
        for stretch in self.kept.iter().rev() {
            let first = first_not(stretch.clone(), |row| times.get(row) <= time);
            later += stretch.end - first;
            if first > stretch.start || later >= enough {
                break;
            }
        }
        later
    }

    fn drop_last(&mut self, times: &Ints, mut rows: usize) {
        while rows > 0
            && let Some(stretch) = self.kept.last_mut()
        {
            let start = stretch.start.max(stretch.end.saturating_sub(rows));
            let dropped = start..stretch.end;
            rows -= dropped.len();
            stretch.end = start;
            self.late.extend(dropped.map(|row| (times.get(row), row as u32)));
            self.kept.pop_if(|stretch| stretch.start == stretch.end);
        }
    }

    /// Add rows of ascending times; either they are late, or some before them were early: whichever are fewer.
    fn add(&mut self, times: &Ints, mut rows: Range<usize>, most: usize) -> bool {
        let last = self.kept.last().map_or(i64::MIN, |stretch| times.get(stretch.end - 1));
        let first = times.get(rows.start);
        if first < last {
            let start = first_not(rows.clone(), |row| times.get(row) < last);
            let late = start - rows.start;
            let early = self.later(times, first, late);
            if self.late.len() + early.min(late) > most {
                return false;
            }
            if early < late {
                self.drop_last(times, early);
            } else {
                let late = rows.start..start;
                self.late.extend(late.map(|row| (times.get(row), row as u32)));
                rows.start = start;
            }
        }
        if !rows.is_empty() {
            self.kept.push(rows);
        }
        true
    }

    /// All rows in order of time.
    fn merged(mut self, times: &Ints) -> Vec<Range<u32>> {
        self.late.sort_unstable();
        let mut all: Vec<Range<u32>> = Vec::with_capacity(self.kept.len() + 2 * self.late.len());
        let mut add = |rows: Range<usize>| {
            let rows = rows.start as u32..rows.end as u32;
            match all.last_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ if rows.is_empty() => (),
                _ => all.push(rows),
            }
        };
        let mut late = self.late.into_iter().peekable();
        for mut stretch in self.kept {
            let last = (times.get(stretch.end - 1), stretch.end as u32 - 1);
            while let Some(next) = late.next_if(|next| *next < last) {
                let earlier = |row| (times.get(row), row as u32) < next;
                let middle = first_not(stretch.clone(), earlier);
                add(stretch.start..middle);
                add(next.1 as usize..next.1 as usize + 1);
                stretch.start = middle;
            }
            add(stretch);
        }
        late.for_each(|(_, row)| add(row as usize..row as usize + 1));
        all
    }
}

/// The rows in order of time, if few are out of order.
fn almost_sorted(times: &Ints) -> Option<Vec<Range<u32>>> {
    let first = times.len() / LATE_FIRST;
    let mut rows = Ascending::default();
    let few = times.ascending(|stretch| {
        let most = first + stretch.end / LATE;
        rows.add(times, stretch, most)
    });
    few.then(|| rows.merged(times))
}

/// The rows in order of time, in any initial order.
fn sorted(times: &Ints) -> Vec<u32> {
    let mut wide: Vec<i64> = Vec::new();
    times.all(&mut wide);
    let least = wide.iter().copied().min().unwrap_or(0);
    let most = wide.iter().copied().max().unwrap_or(0);
    let range = most.wrapping_sub(least).cast_unsigned();
    let bits = usize::BITS - wide.len().leading_zeros();
    if range.leading_zeros() >= bits {
        // Time and row in one word sort twice as fast as pairs; only the stable sort makes use of ascending runs.
        let above = |time: i64| time.wrapping_sub(least).cast_unsigned() << bits;
        let keys = wide.into_iter().enumerate();
        let mut keys: Vec<u64> = keys.map(|(row, time)| above(time) | row as u64).collect();
        if keys.chunk_by(|one, next| one < next).nth(RUNS).is_some() {
            keys.sort_unstable();
        } else {
            keys.sort();
        }
        let mask = (1_u64 << bits) - 1;
        return keys.into_iter().map(|key| (key & mask) as u32).collect();
    }
    let mut keys: Vec<(i64, u32)> = wide.into_iter().zip(0..).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(mut order: Order, step: usize) -> Vec<usize> {
        let mut found = Vec::new();
        loop {
            let rows = order.next(step);
            if rows.len() == 0 {
                return found;
            }
            assert!(rows.len() <= step);
            rows.for_each(|row| found.push(row));
        }
    }

    #[test]
    fn rows_come_in_order_of_time_and_equal_times_as_they_are() {
        let mixed = |at: i64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
        let late = |every: i64, by: i64| move |at: i64| if at % every == every - 1 { at - by } else { at };
        let cases: [Vec<i64>; 9] = [
            vec![],
            vec![i64::MAX, i64::MIN],
            (0..1000).collect(),
            (0..1000).rev().collect(),
            (0..1000).map(late(100, 7)).collect(),
            (0..1000).map(late(9, 300)).collect(),
            (0..1000).map(|at| at % 10).collect(),
            (0..1000).map(|at| mixed(at) >> 60).collect(),
            (0..1000).map(mixed).collect(),
        ];
        for times in cases {
            let mut wanted: Vec<usize> = (0..times.len()).collect();
            wanted.sort_by_key(|row| times[*row]);
            for step in [1, 7, usize::MAX] {
                assert_eq!(taken(Order::by_time(&Ints::of(times.clone())), step), wanted, "{step} of {times:?}");
            }
            assert_eq!(taken(Order::of_all(times.len()), 7), (0..times.len()).collect::<Vec<_>>());
        }
    }
}
