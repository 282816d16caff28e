//! Queries of a history: the state of one attribute at a time, of all, or of some over a range or at many times.

use super::cell::{Cell, Value};
use super::fault::Fault;
use super::history::History;
use super::near::{Near, expected};
use super::rows::Rows;
use super::track::Run;

/// The start and end of a state; the end is not final if the state continues.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub start: i64,
    pub end: i64,
    pub ongoing: bool,
}

/// An interval.
#[derive(Clone, Debug)]
pub struct Found {
    pub extent: Extent,
    pub cell: Cell,
}

impl History {
    /// # Errors
    /// A time is not, or not yet, in the history.
    pub fn check_time(&self, time: i64) -> Result<(), Fault> {
        self.check_not_abandoned()?;
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

    /// The last time covered by a run, as far as that is known; and whether its last state continues.
    pub fn run_end(&self, place: usize, run: usize, until: i64) -> (i64, bool) {
        let track = &self.tracks[place];
        if run + 1 < track.runs(self.is_open()) {
            return (track.begin(run + 1).saturating_sub(1), false);
        }
        match self.end {
            Some(end) => (track.last_end.unwrap_or(end), false),
            None => (until, true),
        }
    }

    pub fn extent(&self, place: usize, at: (usize, &Run<'_>, usize), until: i64) -> Extent {
        let (number, run, row) = at;
        let (end, ongoing) = match run.end(row) {
            Some(end) => (end, false),
            None if row + 1 < run.len() => (run.start(row + 1).saturating_sub(1), false),
            None => self.run_end(place, number, until),
        };
        Extent {
            start: run.start(row),
            end: if self.is_open() { end.min(until) } else { end },
            ongoing: ongoing || (self.is_open() && end > until),
        }
    }

    /// The estimated place of a time in a run of an attribute.
    pub fn near(&self, place: usize, number: usize, run: &Run<'_>, time: i64) -> Near {
        let (track, open) = (&self.tracks[place], self.is_open());
        let next = if number + 1 < track.runs(open) { track.begin(number + 1) } else { self.end.unwrap_or(self.now) };
        expected(time, (track.begin(number), next), run.len())
    }

    /// Pass the interval of an attribute that contains a time to a function.
    pub fn see<R>(
        &self,
        place: usize,
        (time, until): (i64, i64),
        see: impl FnOnce(Extent, Value<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let unknown = Extent { start: self.start, end: until, ongoing: false };
        let Some(number) = self.run_at(place, time) else {
            return see(unknown, Value::NULL);
        };
        self.look(place, number, |run| match run.at(time, self.near(place, number, run, time)) {
            None => see(unknown, Value::NULL),
            Some(row) => see(self.extent(place, (number, run, row), until), run.value(row)?),
        })
    }

    /// The run of an attribute that contains a time.
    pub fn run_at(&self, place: usize, time: i64) -> Option<usize> {
        let until = self.end.unwrap_or(self.now);
        self.tracks[place].run_at(time, until, self.is_open())
    }

    /// The interval of an attribute that contains a time.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn seek(&self, place: usize, time: i64, until: i64) -> Result<Found, Fault> {
        self.see(place, (time, until), |extent, value| {
            let cell = value.to_cell();
            Ok(Found { extent, cell })
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
        let mut rows = Rows::with_capacity(self.tracks.len());
        for place in 0..self.tracks.len() {
            self.see(place, (time, self.safe()), |extent, value| rows.push(place, extent, value))?;
        }
        Ok(rows)
    }

    /// The states of all attributes at a time, by quark.
    ///
    /// # Errors
    /// The time is outside, or the history cannot be read.
    pub fn all_at(&self, time: i64) -> Result<Vec<Found>, Fault> {
        self.check_time(time)?;
        let places = 0..self.tracks.len();
        places.map(|place| self.seek(place, time, self.safe())).collect()
    }

    /// The current state of an attribute, whatever its end.
    pub fn ongoing(&self, place: usize) -> Found {
        let state = &self.tracks[place].ongoing;
        Found { extent: Extent { start: state.start, end: self.now, ongoing: true }, cell: state.cell.clone() }
    }
}
