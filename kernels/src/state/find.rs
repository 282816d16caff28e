//! Questions to a history: the state of one attribute at a time, of all, or of some over a range or at many times.

use super::cell::Cell;
use super::fault::Fault;
use super::history::History;
use super::rows::Rows;
use super::track::Run;

/// An interval; its end is not known for good if it goes on.
#[derive(Clone, Debug)]
pub struct Found {
    pub start: i64,
    pub end: i64,
    pub ongoing: bool,
    pub cell: Cell,
}

impl History {
    /// # Errors
    /// A time is not, or not yet, in the history.
    pub fn check_time(&self, time: i64) -> Result<(), Fault> {
        self.check_given_up()?;
        if time < self.start || time > self.safe() {
            let until = if self.is_open() { "so far " } else { "" };
            return Err(Fault::Range(format!(
                "the time {time} is outside of the history, which is {until}from {} to {}",
                self.start,
                self.safe()
            )));
        }
        Ok(())
    }

    /// The last time that a run tells of, as far as that is known; and whether its last state goes on.
    fn run_end(&self, place: usize, run: usize, until: i64) -> (i64, bool) {
        let track = &self.tracks[place];
        if run + 1 < track.runs(self.is_open()) {
            return (track.begin(run + 1).saturating_sub(1), false);
        }
        match self.end {
            Some(end) => (track.last_end.unwrap_or(end), false),
            None => (until, true),
        }
    }

    fn found(
        &self,
        place: usize,
        at: (usize, &Run<'_>, usize),
        until: i64,
    ) -> Result<Found, Fault> {
        let (number, run, row) = at;
        let (end, ongoing) = match run.end(row) {
            Some(end) => (end, false),
            None if row + 1 < run.len() => (run.start(row + 1).saturating_sub(1), false),
            None => self.run_end(place, number, until),
        };
        Ok(Found {
            start: run.start(row),
            end: if self.is_open() { end.min(until) } else { end },
            ongoing: ongoing || (self.is_open() && end > until),
            cell: run.cell(row)?,
        })
    }

    /// The interval of an attribute that a time is in.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn seek(&self, place: usize, time: i64, until: i64) -> Result<Found, Fault> {
        let unknown = Found {
            start: self.start,
            end: until,
            ongoing: false,
            cell: Cell::default(),
        };
        let Some(number) = self.tracks[place].run_at(time, self.is_open()) else {
            return Ok(unknown);
        };
        self.look(place, number, |run| match run.at(time, 0) {
            None => Ok(unknown),
            Some(row) => self.found(place, (number, run, row), until),
        })
    }

    /// # Errors
    /// The time is outside, or the history cannot be read.
    pub fn single(&self, place: usize, time: i64) -> Result<Found, Fault> {
        self.check_time(time)?;
        self.seek(place, time, self.safe())
    }

    /// # Errors
    /// The time is outside, or the history cannot be read.
    pub fn full(&self, time: i64) -> Result<Rows, Fault> {
        self.check_time(time)?;
        let mut rows = Rows::default();
        for place in 0..self.tracks.len() {
            rows.push(place, self.seek(place, time, self.safe())?);
        }
        Ok(rows)
    }

    /// The state of an attribute now, whatever becomes of it.
    pub fn ongoing(&self, place: usize) -> Found {
        let state = &self.tracks[place].ongoing;
        Found {
            start: state.start,
            end: self.now,
            ongoing: true,
            cell: state.cell.clone(),
        }
    }
}

/// Which times are asked for.
pub enum Times {
    Range(i64, i64),
    /// Ascending.
    At(Vec<i64>),
}

impl Times {
    pub fn at(mut times: Vec<i64>) -> Times {
        times.sort_unstable();
        times.dedup();
        Times::At(times)
    }

    /// The first of them all.
    pub fn first(&self) -> Option<i64> {
        match self {
            Times::Range(first, _) => Some(*first),
            Times::At(times) => times.first().copied(),
        }
    }

    /// The first time that is asked for from another on, or the last before it.
    fn next(&self, time: i64, backwards: bool) -> Option<i64> {
        match (self, backwards) {
            (Times::Range(first, last), false) => {
                Some(time.max(*first)).filter(|time| time <= last)
            }
            (Times::Range(first, last), true) => Some(time.min(*last)).filter(|time| time >= first),
            (Times::At(all), false) => all.get(all.partition_point(|one| *one < time)).copied(),
            (Times::At(all), true) => {
                let behind = all.partition_point(|one| *one <= time);
                behind.checked_sub(1).map(|place| all[place])
            }
        }
    }
}

/// A question about several attributes that is answered bit by bit: each interval once that a time asked for is in.
pub struct Walk {
    quarks: Vec<usize>,
    times: Times,
    backwards: bool,
    until: i64,
    /// Where the walk is: which of the attributes, and the next time there.
    quark: usize,
    next: Option<i64>,
    begun: bool,
}

impl Walk {
    pub fn new(quarks: Vec<usize>, times: Times, backwards: bool, until: i64) -> Walk {
        Walk {
            quarks,
            times,
            backwards,
            until,
            quark: 0,
            next: None,
            begun: false,
        }
    }

    /// Add rows, about `most` of them; nothing when all were found.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn fill(&mut self, history: &History, rows: &mut Rows, most: usize) -> Result<(), Fault> {
        history.check_given_up()?;
        while rows.len() < most {
            let Some(place) = self.quarks.get(self.quark).copied() else {
                return Ok(());
            };
            if !self.begun {
                let from = if self.backwards { self.until } else { i64::MIN };
                self.next = self.times.next(from, self.backwards);
                self.begun = true;
            }
            match self.next.filter(|time| *time <= self.until) {
                Some(time) => self.next = self.run(history, place, time, rows, most)?,
                None => {
                    self.quark += 1;
                    self.begun = false;
                }
            }
        }
        Ok(())
    }

    /// Add what a run tells from a time on; return the next time.
    fn run(
        &self,
        history: &History,
        place: usize,
        time: i64,
        rows: &mut Rows,
        most: usize,
    ) -> Result<Option<i64>, Fault> {
        let until = self.until;
        let Some(number) = history.tracks[place].run_at(time, history.is_open()) else {
            rows.push(place, history.seek(place, time, until)?);
            return Ok(None);
        };
        history.look(place, number, |run| {
            let (mut time, mut row) = (time, None);
            while rows.len() < most {
                let from = if self.backwards { 0 } else { row.unwrap_or(0) };
                let step = row.filter(|_| !self.backwards).map(|row| row + 1);
                let near = step.filter(|next| {
                    next + 1 < run.len() && run.start(*next) <= time && run.start(next + 1) > time
                });
                let Some(place_in_run) = near.or_else(|| run.at(time, from)) else {
                    break;
                };
                let found = history.found(place, (number, run, place_in_run), until)?;
                let (start, end) = (found.start, found.end);
                rows.push(place, found);
                row = Some(place_in_run);
                let next = match self.backwards {
                    false => end
                        .checked_add(1)
                        .and_then(|next| self.times.next(next, false)),
                    true => start
                        .checked_sub(1)
                        .and_then(|next| self.times.next(next, true)),
                };
                let Some(next) = next.filter(|next| *next <= until) else {
                    return Ok(None);
                };
                time = next;
                let leaves = match self.backwards {
                    false => place_in_run + 1 == run.len(),
                    true => next < run.start(0),
                };
                if leaves {
                    break;
                }
            }
            Ok(Some(time))
        })
    }
}
