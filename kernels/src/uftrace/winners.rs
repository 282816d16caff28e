//! Find the file with the earliest next item among many files.

use std::hint::select_unpredictable;

/// The time of an ended file: after all others.
const NEVER: u64 = 1 << 63;

/// The time of a file's next item.
#[derive(Clone, Copy)]
struct Turn {
    time: u64,
    number: u64,
}

impl Turn {
    /// The turn of a file; None is its end, and times before 0 count as 0.
    fn new(time: Option<i64>, number: usize) -> Turn {
        Turn { time: time.map_or(NEVER, |time| time.max(0).cast_unsigned()), number: number as u64 }
    }

    /// The earlier and the later of two; among equal times the lower number is first.
    ///
    /// The result is unpredictable, and the compiler turns other comparisons than this one into branches.
    #[inline]
    fn sorted(self, other: Turn) -> (Turn, Turn) {
        let second = other.time < self.time + u64::from(other.number < self.number);
        let earlier = Turn {
            time: select_unpredictable(second, other.time, self.time),
            number: select_unpredictable(second, other.number, self.number),
        };
        let later =
            Turn { time: self.time ^ other.time ^ earlier.time, number: self.number ^ other.number ^ earlier.number };
        (earlier, later)
    }
}

/// A tree of losers: the later of two stays where it lost, and the earlier one rises.
pub struct Winners {
    /// The loser of each game; the winner of game `n` plays game `n / 2`, and game 0 is unused.
    losers: Vec<Turn>,
    first: Turn,
}

impl Winners {
    /// A tree of files by their times; None is the end of a file.
    pub fn new(times: &[Option<i64>]) -> Winners {
        let size = times.len().next_power_of_two();
        let leaf = |number| Turn::new(times.get(number).copied().flatten(), number);
        let mut winners: Vec<Turn> = (0..2 * size).map(|place| leaf(place.saturating_sub(size))).collect();
        let mut losers = winners[..size].to_vec();
        for game in (1..size).rev() {
            (winners[game], losers[game]) = winners[2 * game].sorted(winners[2 * game + 1]);
        }
        Winners { losers, first: winners[1] }
    }

    /// The number of the file with the earliest time.
    #[inline]
    pub fn first(&self) -> usize {
        self.first.number as usize
    }

    /// Whether all have ended.
    pub fn ended(&self) -> bool {
        self.first.time == NEVER
    }

    /// Change the time of the first file.
    #[inline]
    pub fn set_first(&mut self, time: Option<i64>) {
        let mut best = Turn::new(time, self.first());
        let mut game = (self.losers.len() + self.first()) / 2;
        while game > 0
            && let Some(loser) = self.losers.get_mut(game)
        {
            (best, *loser) = best.sorted(*loser);
            game /= 2;
        }
        self.first = best;
    }
}
