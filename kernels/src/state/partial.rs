//! Checkpoints of a partial history: what is kept at them, and the changes between them made again for what is not.
//!
//! A state at a checkpoint follows from the changes of the part before it, made again, as long as one of these
//! was made: what an attribute is set to does not depend on what it was. So only two sorts of states are kept, with
//! begin and end: those that last over two checkpoints or more, and those over one from which changes went on, as
//! from the depth of a stack. The part behind tells when states end that last over its begin.

use super::cell::Cell;
use super::fault::Fault;
use super::find::{Extent, Found};
use super::history::{History, Store};
use super::near::Near;
use super::track::{Mark, Ongoing};

/// Times that end parts, each the last one before a change.
pub struct Checkpoints {
    every: u64,
    counted: u64,
    pub times: Vec<i64>,
}

/// The first and last time of a part, the first of the one before it and the last of the one behind it.
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

    /// Time goes on: where enough has changed a part ends.
    pub fn advance(&mut self, now: i64, time: i64) {
        if time > now && self.counted >= self.every {
            self.counted = 0;
            self.times.push(time - 1);
        }
    }

    /// The end is one; what is little after the last one before it becomes part of the part before.
    pub fn finish(&mut self, end: i64) {
        if self.counted < self.every / 2 {
            self.times.pop();
        }
        self.times.push(end);
    }

    /// Whether a state that began then and ends only now lasts over the last `count` checkpoints.
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

/// What of changes that are made again is looked for: a part, and when the states at its end end.
pub struct Replay {
    pub first: i64,
    pub last: i64,
    /// Attributes of which that is not known.
    pub missing: usize,
}

impl Replay {
    /// Whether a state that is over is one of the part.
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
    /// A state is read by a change, which is not made again without knowing it.
    pub fn need(&mut self, place: usize) {
        if let Some(partial) = &self.partial {
            let state = &mut self.tracks[place].ongoing;
            if partial.crossed(state.start, 1) {
                state.mark = Mark::Needed;
            }
        }
    }

    /// The part that a time is in.
    ///
    /// # Errors
    /// The time is outside, or this is no partial history that is closed.
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

    /// What is kept of an attribute's state at a time.
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

    /// A history of the part that a time is in, to make changes in again: those of the part before, unless the states
    /// at its end are given, those of the part, and those behind it until all is known.
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
