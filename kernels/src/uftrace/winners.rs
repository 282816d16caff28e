//! Times of what comes next in many files -> the file whose time has come.

use std::hint::select_unpredictable;

/// What has ended; a file may also say that its time is this one.
pub const NEVER: i64 = i64::MAX;

/// When a file's turn is.
#[derive(Clone, Copy)]
struct Turn {
    /// Not above `NEVER`.
    time: u64,
    number: u64,
}

const NOBODY: Turn = Turn {
    time: NEVER.cast_unsigned(),
    number: 0,
};

impl Turn {
    /// The earlier of two; which one that is cannot be foreseen, and larger types than these are chosen with a branch.
    ///
    /// Of equal times it is this one, unless it is `second`.
    #[inline]
    fn earlier(self, other: Turn, second: bool) -> Turn {
        let lost = other.time < self.time + u64::from(second);
        Turn {
            time: select_unpredictable(lost, other.time, self.time),
            number: select_unpredictable(lost, other.number, self.number),
        }
    }
}

/// A tree in which the earlier of two rises; of equal times the one of the lower number.
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
        (self.first.time.cast_signed(), self.first.number as usize)
    }

    /// Change the time of a number; what is before 0 is at 0.
    #[inline]
    pub fn set(&mut self, number: usize, time: i64) {
        let mut best = Turn {
            time: time.max(0).cast_unsigned(),
            number: number as u64,
        };
        let mut at = self.games.len() + number;
        while at > 1
            && let Some(game) = self.games.get_mut(at / 2)
        {
            let second = at % 2;
            let other = game[1 - second];
            game[second] = best;
            best = best.earlier(other, second == 1);
            at /= 2;
        }
        self.first = best;
    }
}
