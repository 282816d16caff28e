//! Checkpoints of a partial history: the states stored at them, and replays of the changes between them for the others.
//!
//! A state at a checkpoint follows from a replay of the changes of the part before it, if one of these set it: the new
//! state of an attribute does not depend on its old one. So only two sorts of states are stored, with start and end:
//! those that last over two checkpoints or more, and those over one that later changes depend on, such as the depth of
//! a stack. The part after gives the ends of states that last over its start.

use super::cell::Cell;
use super::fault::Fault;
use super::find::{Extent, Found};
use super::history::{History, Store};
use super::near::Near;
use super::track::{Mark, Ongoing};

/// The ends of parts, each the last time before a change.
pub struct Checkpoints {
    every: u64,
    counted: u64,
    pub times: Vec<i64>,
}

/// The first and last time of a part, the first of the one before it and the last of the one after it.
#[derive(Clone, Copy)]
pub struct Span {
    pub before: i64,
    pub first: i64,
    pub last: i64,
    pub after: i64,
}

impl Checkpoints {
    pub fn new(every: u64) -> Checkpoints {
        Checkpoints::read(every.max(1), Vec::new())
    }

    pub fn read(every: u64, times: Vec<i64>) -> Checkpoints {
        Checkpoints { every, counted: 0, times }
    }

    pub fn every(&self) -> u64 {
        self.every
    }

    pub fn count(&mut self) {
        self.counted += 1;
    }

    /// Advance time: a part ends where there were enough changes.
    pub fn advance(&mut self, now: i64, time: i64) {
        if time > now && self.counted >= self.every {
            self.counted = 0;
            self.times.push(time - 1);
        }
    }

    /// Add the end as a checkpoint; a short rest after the last checkpoint is merged into the part before.
    pub fn finish(&mut self, end: i64) {
        if self.counted < self.every / 2 {
            self.times.pop();
        }
        self.times.push(end);
    }

    /// Whether a state from a start until now lasts over the last `count` checkpoints.
    pub fn crossed(&self, start: i64, count: usize) -> bool {
        let place = self.times.len().checked_sub(count);
        place.is_some_and(|place| self.times[place] >= start)
    }

    fn span(&self, start: i64, time: i64) -> Span {
        let place = self.times.partition_point(|one| *one < time);
        let begin = |place: usize| match place {
            0 => start,
            _ => self.times[place - 1].saturating_add(1),
        };
        let last = self.times.get(place).copied().unwrap_or(time);
        Span {
            before: begin(place.saturating_sub(1)),
            first: begin(place),
            last,
            after: self.times.get(place + 1).copied().unwrap_or(last),
        }
    }
}

/// The goal of a replay: a part, and the ends of the states at its end.
pub struct Replay {
    pub first: i64,
    pub last: i64,
    /// The number of attributes without a known end.
    pub missing: usize,
}

impl Replay {
    /// Whether an ended state belongs to the part.
    pub fn keeps(&mut self, state: &Ongoing, end: i64, last_end: &mut Option<i64>) -> Result<bool, Fault> {
        if end < self.first || state.start > self.last {
            return Ok(false);
        }
        if state.mark == Mark::Unknown {
            return Err(other_changes());
        }
        if end >= self.last && last_end.is_none() {
            *last_end = Some(end);
            self.missing = self.missing.saturating_sub(1);
        }
        Ok(true)
    }
}

pub fn other_changes() -> Fault {
    let text = "the changes that were made again are not those that the history was built of";
    Fault::Value(text.to_owned())
}

impl History {
    /// Mark a state as read by a change, which cannot be replayed without it.
    pub fn need(&mut self, place: usize) {
        if let Some(partial) = &self.partial {
            let state = &mut self.tracks[place].ongoing;
            if partial.crossed(state.start, 1) {
                state.mark = Mark::Needed;
            }
        }
    }

    /// The part that contains a time.
    ///
    /// # Errors
    /// The time is outside, or this is not a closed partial history.
    pub fn span(&self, time: i64) -> Result<Span, Fault> {
        self.check_time(time)?;
        if self.is_open() {
            let text = "a partial history answers when it is closed";
            return Err(Fault::Closed(text.to_owned()));
        }
        match &self.partial {
            None => Err(Fault::Closed("the history is no partial one".to_owned())),
            Some(partial) => Ok(partial.span(self.start, time)),
        }
    }

    /// The stored state of an attribute at a time.
    fn kept(&self, place: usize, time: i64) -> Result<Option<Found>, Fault> {
        let Some(number) = self.run_at(place, time) else {
            return Ok(None);
        };
        self.look(place, number, |run| {
            let row = run.at(time, Near::default());
            let found = row.and_then(|row| Some((row, run.end(row)?)));
            let Some((row, end)) = found.filter(|(_, end)| *end >= time) else {
                return Ok(None);
            };
            let extent = Extent { start: run.start(row), end, ongoing: false };
            let cell = run.value(row)?.to_cell();
            Ok(Some(Found { extent, cell }))
        })
    }

    /// A history for a replay of the part that contains a time: of the changes of the part before, unless the states at
    /// its end are given, those of the part, and those after it until all ends are known.
    ///
    /// # Errors
    /// The time is outside, or the history cannot be read.
    pub fn part(&self, time: i64, before: Option<Vec<Found>>, after: Option<Vec<Found>>) -> Result<History, Fault> {
        let span = self.span(time)?;
        let begin = match before {
            Some(_) => span.first,
            None => span.before,
        };
        let mut part = History::new(begin, Store::Memory);
        part.tree = self.tree.clone();
        part.grow();
        let mut replay = Replay { first: span.first, last: span.last, missing: 0 };
        for (place, track) in part.tracks.iter_mut().enumerate() {
            track.kind = self.tracks[place].kind;
            if begin > self.start {
                let state = before.as_ref().and_then(|all| all.get(place)).cloned();
                track.ongoing = match state.map_or_else(|| self.kept(place, begin - 1), |one| Ok(Some(one)))? {
                    Some(found) => Ongoing::new(found.extent.start, found.cell),
                    None => Ongoing { start: begin - 1, cell: Cell::default(), mark: Mark::Unknown },
                };
            }
            if span.after > span.last {
                track.last_end = match after.as_ref().and_then(|all| all.get(place)) {
                    Some(found) if found.extent.start > span.last => Some(span.last),
                    Some(found) => Some(found.extent.end),
                    None => self.kept(place, span.last)?.map(|found| found.extent.end),
                };
                replay.missing += usize::from(track.last_end.is_none());
            }
        }
        part.replay = Some(replay);
        Ok(part)
    }
}
