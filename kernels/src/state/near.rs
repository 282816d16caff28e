//! Search of ascending times near an expected place.

use super::mipmap::span;

/// The expected place of something: around `place`, within `reach` of it.
#[derive(Clone, Copy, Default)]
pub struct Near {
    pub place: usize,
    pub reach: usize,
}

/// The number of elements for which `before` holds, which must be the first ones.
///
/// Checking the expected place is quick. The search around it has no unpredictable branches.
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

/// The place of a time among `count` evenly distributed ones between two others.
pub fn expected(time: i64, (first, last): (i64, i64), count: usize) -> Near {
    let share = span(first, time) / span(first, last).max(1.0);
    Near {
        place: (share * count as f64) as usize,
        // Random times deviate by about this much from an even distribution.
        reach: count.isqrt(),
    }
}

/// A walk over places that are often evenly distributed, forwards or backwards.
#[derive(Default)]
pub struct Pace {
    pub place: usize,
    /// The mean of the last few steps, times eight.
    steps: usize,
}

impl Pace {
    /// Start anew, with the same mean step.
    pub fn begin(&mut self, place: usize) {
        self.place = place;
    }

    #[inline]
    pub fn reach(&mut self, place: usize) {
        let step = place.abs_diff(self.place).min(usize::MAX / 16);
        self.steps = self.steps - self.steps / 8 + step;
        self.place = place;
    }

    /// The next of ascending times that is not before another; mostly few are skipped.
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

    /// The expected place of the next element: after the place, or before it.
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
