//! Checkpoints of a partial history: only states that last over one are kept, others are found by playing changes again.

/// Times at which states are kept, each the last one before a change.
pub struct Checkpoints {
    every: u64,
    counted: u64,
    pub times: Vec<i64>,
}

impl Checkpoints {
    pub fn new(every: u64) -> Checkpoints {
        Checkpoints {
            every: every.max(1),
            counted: 0,
            times: Vec::new(),
        }
    }

    pub fn read(every: u64, times: Vec<i64>) -> Checkpoints {
        Checkpoints {
            every,
            counted: 0,
            times,
        }
    }

    pub fn every(&self) -> u64 {
        self.every
    }

    pub fn count(&mut self) {
        self.counted += 1;
    }

    /// Time goes on: where enough has changed, what is there now is kept.
    pub fn advance(&mut self, now: i64, time: i64) {
        if time > now && self.counted >= self.every {
            self.counted = 0;
            self.times.push(time - 1);
        }
    }

    /// The end is one, so that all states that last until then are known.
    pub fn finish(&mut self, end: i64) {
        if self.times.last() != Some(&end) {
            self.times.push(end);
        }
    }

    /// Whether one is in an interval.
    pub fn crossed(&self, start: i64, end: i64) -> bool {
        let before = self.times.partition_point(|time| *time <= end);
        before > 0 && self.times[before - 1] >= start
    }

    /// The first and last time of the part that a time is in.
    pub fn part(&self, start: i64, time: i64) -> (i64, i64) {
        let place = self.times.partition_point(|one| *one < time);
        let begin = if place == 0 {
            start
        } else {
            self.times[place - 1] + 1
        };
        let end = self.times.get(place).copied().unwrap_or(time);
        (begin, end)
    }
}
