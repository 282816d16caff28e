//! Output rows in order of their start, completed as their ends become known.

use std::collections::VecDeque;

/// The end of the span of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Unknown,
    At(i64),
    /// Never, or at its start: it is not a span.
    Dropped,
}

/// The duration of the call of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Open,
    Known(i64),
    Never,
}

impl Length {
    pub fn known(self) -> Option<i64> {
        match self {
            Self::Known(length) => Some(length),
            Self::Open | Self::Never => None,
        }
    }
}

/// A number without slot.
pub const NO_SLOT: u64 = u64::MAX;

/// A queue whose entries keep their numbers.
pub struct Slots<T> {
    first: u64,
    queue: VecDeque<T>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { first: 0, queue: VecDeque::new() }
    }
}

impl<T> Slots<T> {
    /// Append a slot and return its number.
    #[inline]
    pub fn begin(&mut self, slot: T) -> u64 {
        self.queue.push_back(slot);
        self.first + self.queue.len() as u64 - 1
    }

    /// The slot with this number; None once it has left, and for `NO_SLOT`.
    #[inline]
    pub fn get(&mut self, number: u64) -> Option<&mut T> {
        self.queue.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Removes and returns the oldest slot if it satisfies the condition.
    #[inline]
    pub fn pop_if(&mut self, condition: impl FnOnce(&T) -> bool) -> Option<T> {
        if !condition(self.queue.front()?) {
            return None;
        }
        self.first += 1;
        self.queue.pop_front()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.queue.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.queue.iter_mut()
    }
}
