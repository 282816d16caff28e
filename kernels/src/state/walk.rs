//! Stream each interval of some attributes that contains one of the given times, once.

use super::block::{Numbers, View, Wide, ahead};
use super::fault::Fault;
use super::find::Extent;
use super::history::History;
use super::near::{Near, Pace, expected, partition};
use super::rows::Rows;
use super::track::Run;

/// The requested times.
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

    /// The first requested time from another on, or the last before it.
    fn next(&self, time: i64, backwards: bool, pace: &mut Pace) -> Option<i64> {
        let all = match self {
            Times::Range(first, last) if backwards => {
                return Some(time.min(*last)).filter(|time| time >= first);
            }
            Times::Range(first, last) => {
                return Some(time.max(*first)).filter(|time| time <= last);
            }
            Times::At(all) => all,
        };
        let place = if backwards {
            partition(all.len(), pace.next(true), |place| all[place] <= time).checked_sub(1)?
        } else {
            partition(all.len(), pace.next(false), |place| all[place] < time)
        };
        pace.reach(place);
        all.get(place).copied()
    }
}

/// Rows of a block, and the time to continue with.
type Picked = (Vec<u32>, Option<i64>);

/// A streamed query over several attributes: each interval that contains a requested time, once.
pub struct Walk {
    quarks: Vec<usize>,
    times: Times,
    backwards: bool,
    until: i64,
    /// The position of the walk: the attribute, the next time, its index among the times, and the place in a run.
    quark: usize,
    next: Option<i64>,
    pixel: Pace,
    row: Pace,
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
            pixel: Pace::default(),
            row: Pace::default(),
            begun: false,
        }
    }

    /// Add rows, about `most` of them; none at the end.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn fill(&mut self, history: &History, rows: &mut Rows, most: usize) -> Result<(), Fault> {
        history.check_not_abandoned()?;
        while rows.len() < most {
            let Some(place) = self.quarks.get(self.quark).copied() else {
                return Ok(());
            };
            if !self.begun {
                let from = if self.backwards { self.until } else { i64::MIN };
                self.next = self.times.next(from, self.backwards, &mut self.pixel);
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

    /// Add the intervals of a run from a time on; return the next time.
    fn run(
        &mut self,
        history: &History,
        place: usize,
        time: i64,
        rows: &mut Rows,
        most: usize,
    ) -> Result<Option<i64>, Fault> {
        let until = self.until;
        let Some(number) = history.run_at(place, time) else {
            history.see(place, (time, until), |extent, value| rows.push(place, extent, value))?;
            return Ok(None);
        };
        history.look(place, number, |run| {
            if let (Run::Block(view), false) = (run, self.backwards || history.is_open()) {
                let (end, _) = history.run_end(place, number, until);
                let most = most - rows.len();
                if let Some((picked, next)) = self.pick(view, (time, end), most) {
                    rows.extend(place, view, &picked, end);
                    return Ok(next);
                }
            }
            self.each(history, (place, number, run), time, rows, most)
        })
    }

    /// Add intervals of a run one by one.
    fn each(
        &mut self,
        history: &History,
        (place, number, run): (usize, usize, &Run<'_>),
        mut time: i64,
        rows: &mut Rows,
        most: usize,
    ) -> Result<Option<i64>, Fault> {
        let mut near = history.near(place, number, run, time);
        while rows.len() < most {
            let Some(row) = run.at(time, near) else {
                break;
            };
            let extent = history.extent(place, (number, run, row), self.until);
            rows.push(place, extent, run.value(row)?)?;
            let Some(next) = self.behind(extent) else {
                return Ok(None);
            };
            time = next;
            if time < run.start(0) || (row + 1 == run.len() && !self.backwards) {
                break;
            }
            self.row.begin(row);
            near = self.row.next(self.backwards);
        }
        Ok(Some(time))
    }

    /// The intervals of a block that contain times from one on, at most `most`, and the next time; None if intervals
    /// must be visited one by one.
    fn pick(&mut self, view: &View<'_>, ends: (i64, i64), most: usize) -> Option<Picked> {
        if !view.is_plain() || ends.0 < view.first {
            return None;
        }
        match view.starts {
            Numbers::Zeros => None,
            Numbers::One(starts) => Some(self.pick_of(starts, view.first, ends, most)),
            Numbers::Two(starts) => Some(self.pick_of(starts, view.first, ends, most)),
            Numbers::Four(starts) => Some(self.pick_of(starts, view.first, ends, most)),
            Numbers::Eight(starts) => Some(self.pick_of(starts, view.first, ends, most)),
        }
    }

    fn pick_of<N: Wide>(&mut self, starts: &[N], first: i64, (time, end): (i64, i64), most: usize) -> Picked {
        let begun = |time: i64, near: Near| {
            let behind = time.wrapping_sub(first).cast_unsigned();
            partition(starts.len(), near, |row| starts[row].wide() <= behind)
        };
        let edge = |row: usize| match starts.get(row) {
            Some(start) => Some(first.wrapping_add(start.wide().cast_signed())),
            None => end.checked_add(1),
        };
        let near = expected(time, (first, end), starts.len());
        let row = begun(time, near).saturating_sub(1);
        let all = match &self.times {
            Times::At(all) => all,
            Times::Range(_, last) => {
                let last = (*last).min(self.until);
                let near = expected(last, (first, end), starts.len());
                let behind = begun(last, near).clamp(row + 1, row.saturating_add(most.max(1)));
                let next = edge(behind).filter(|next| *next <= last);
                return ((row as u32..behind as u32).collect(), next);
            }
        };
        let mut picked = vec![row as u32];
        self.row.begin(row);
        loop {
            let next = self.row.place + 1;
            let Some(edge) = edge(next) else {
                return (picked, None);
            };
            let pixel = self.pixel.ahead(all, edge);
            let time = all.get(pixel).filter(|time| **time <= self.until);
            let Some(time) = time.filter(|_| next < starts.len() && picked.len() < most) else {
                return (picked, time.copied());
            };
            let limit = time.wrapping_sub(first).cast_unsigned();
            let row = ahead(starts, limit, next, &self.row).saturating_sub(1);
            self.row.reach(row);
            picked.push(row as u32);
        }
    }

    /// The next requested time outside of an interval.
    fn behind(&mut self, extent: Extent) -> Option<i64> {
        let next = match self.backwards {
            false => extent.end.checked_add(1)?,
            true => extent.start.checked_sub(1)?,
        };
        let next = self.times.next(next, self.backwards, &mut self.pixel);
        next.filter(|next| *next <= self.until)
    }
}
