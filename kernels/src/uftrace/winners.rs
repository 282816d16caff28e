//! Times of what comes next in many files -> the file whose time has come.

use std::hint::select_unpredictable;

/// What has ended; a file may also say that its time is this one.
pub const NEVER: i64 = i64::MAX;

/// When a file's turn is, as numbers that are in the same order as times.
#[derive(Clone, Copy)]
struct Turn {
    time: u64,
    number: u64,
}

impl Default for Turn {
    fn default() -> Turn {
        NOBODY
    }
}

const NOBODY: Turn = Turn {
    time: u64::MAX,
    number: u64::MAX,
};

impl Turn {
    fn new(time: i64, number: usize) -> Turn {
        Turn {
            time: time.cast_unsigned() ^ 1 << 63,
            number: number as u64,
        }
    }

    /// The earlier of two; which one that is cannot be foreseen, and larger types than these are chosen with a branch.
    #[inline]
    fn earlier(self, other: Turn) -> Turn {
        let lower = (self.time == other.time) & (self.number < other.number);
        let first = (self.time < other.time) | lower;
        Turn {
            time: select_unpredictable(first, self.time, other.time),
            number: select_unpredictable(first, self.number, other.number),
        }
    }
}

/// A tree in which the earlier of two rises; of equal times the one of the lower number.
#[derive(Default)]
pub struct Winners {
    /// Who plays against whom: the first one decides, the winner of game `n` plays game `n / 2`.
    games: Vec<[Turn; 2]>,
    first: Turn,
}

impl Winners {
    pub fn new(times: &[i64]) -> Winners {
        let mut winners = Winners {
            games: vec![[NOBODY; 2]; times.len().next_power_of_two()],
            first: NOBODY,
        };
        for (number, time) in times.iter().enumerate() {
            winners.set(number, *time);
        }
        winners
    }

    /// The earliest time and its number.
    #[inline]
    pub fn first(&self) -> (i64, usize) {
        let time = self.first.time ^ 1 << 63;
        (time.cast_signed(), self.first.number as usize)
    }

    /// Change the time of a number.
    #[inline]
    pub fn set(&mut self, number: usize, time: i64) {
        let mut best = Turn::new(time, number);
        let mut at = self.games.len() + number;
        while at > 1
            && let Some(game) = self.games.get_mut(at / 2)
        {
            let side = at % 2;
            let other = game[1 - side];
            game[side] = best;
            best = best.earlier(other);
            at /= 2;
        }
        self.first = best;
    }
}
