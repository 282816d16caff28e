//! Where a time is among ascending ones: the places at which it is expected -> where it is.

use super::mipmap::span;

/// Where something is expected: around a place, not farther from it than `reach`.
#[derive(Clone, Copy, Default)]
pub struct Near {
    pub place: usize,
    pub reach: usize,
}

/// How many things there are before the first that is not before, in an order in which they come first.
///
/// Whether they are where they are expected is quickly checked. Looking around there takes no decision that a processor could
/// guess wrongly.
#[inline]
pub fn partition(count: usize, near: Near, before: impl Fn(usize) -> bool) -> usize {
    let place = near.place.min(count);
    let mut low = place.saturating_sub(near.reach);
    let mut high = count.min(place.saturating_add(near.reach));
    let mut step = near.reach.max(1);
    while low > 0 && !before(low - 1) {
        high = low - 1;
        low = high.saturating_sub(step);
        step = step.saturating_mul(2);
    }
    while high < count && before(high) {
        low = high + 1;
        high = count.min(low.saturating_add(step));
        step = step.saturating_mul(2);
    }
    let mut left = high - low;
    while left > 0 {
        let half = left.div_ceil(2);
        low += half * usize::from(before(low + half - 1));
        left -= half;
    }
    low
}

/// Where a time is among `count` of them that are spread evenly from one to another.
pub fn expected(time: i64, (first, last): (i64, i64), count: usize) -> Near {
    let share = span(first, time) / span(first, last).max(1.0);
    Near {
        place: (share * count as f64) as usize,
        // Times that are drawn at random are about so far from where they would be if they were spread evenly.
        reach: count.isqrt(),
    }
}

/// A walk over places that are often spread evenly, forwards or backwards.
#[derive(Default)]
pub struct Pace {
    pub place: usize,
    /// The mean of the last few steps, times eight.
    steps: usize,
}

impl Pace {
    /// Begin anew, with steps as they were.
    pub fn begin(&mut self, place: usize) {
        self.place = place;
    }

    #[inline]
    pub fn reach(&mut self, place: usize) {
        let step = place.abs_diff(self.place).min(usize::MAX / 16);
        self.steps = self.steps - self.steps / 8 + step;
        self.place = place;
    }

    /// The next of ascending times that is not before another; few are skipped most of the time.
    #[inline]
    pub fn ahead(&mut self, all: &[i64], time: i64) -> usize {
        let some = all.get(self.place..).unwrap_or_default().iter().take(8);
        let place = match some.clone().position(|one| *one >= time) {
            Some(steps) => self.place + steps,
            None => partition(all.len(), self.next(false), |place| all[place] < time),
        };
        self.reach(place);
        place
    }

    /// The mean of the last few steps.
    pub fn step(&self) -> usize {
        self.steps / 8
    }

    /// Where what comes next is: behind the place, or before it.
    #[inline]
    pub fn next(&self, backwards: bool) -> Near {
        let reach = self.steps / 8 + 1;
        let place = match backwards {
            true => self.place.saturating_sub(reach),
            false => self.place + 1 + reach,
        };
        Near { place, reach }
    }
}
