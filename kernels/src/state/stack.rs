//! Attributes that are stacks and queues: a depth, and a numbered attribute below for each value.

use super::cell::{Cell, Kind};
use super::fault::Fault;
use super::history::{Action, History};

/// Maximum number of values of a stack.
const DEEPEST: i64 = 100_000;

impl History {
    /// The number of values of a stack or queue.
    ///
    /// # Errors
    /// The attribute has states that are not depths.
    pub fn depth(&self, place: usize) -> Result<i64, Fault> {
        let cell = &self.tracks[place].ongoing.cell;
        match (cell.kind, cell.whole()) {
            (Kind::Null, _) => Ok(0),
            (Kind::Int, Some(depth)) if depth > 0 => Ok(depth),
            _ => Err(Fault::Value(format!(
                "the attribute `{}` is no stack, its state is a {}",
                self.tree.name(place),
                cell.kind.name()
            ))),
        }
    }

    /// The type of the states that a change of an attribute sets: for a stack, of its next value.
    pub fn kind_for(&self, place: usize, action: Action) -> Kind {
        if !matches!(action, Action::Push | Action::Offer) {
            return self.tracks[place].kind;
        }
        let next = self.depth(place).unwrap_or(0) + 1;
        let level = self.tree.find(place as i32, &next.to_string());
        level.map_or(Kind::Null, |level| self.tracks[level as usize].kind)
    }

    /// The attribute of the value at a depth, counted from 1.
    fn level(&mut self, place: usize, depth: i64) -> Result<usize, Fault> {
        let quark = self.attribute(place as i32, &depth.to_string())?;
        self.check_alone(quark as usize, Action::Modify)?;
        Ok(quark as usize)
    }

    pub fn push(&mut self, time: i64, place: usize, cell: Cell) -> Result<(), Fault> {
        self.need(place);
        let depth = self.depth(place)? + 1;
        if depth > DEEPEST {
            return Err(Fault::Value(format!("a stack has at most {DEEPEST} values")));
        }
        let level = self.level(place, depth)?;
        self.modify(time, level, cell)?;
        self.set_depth(time, place, depth)
    }

    fn set_depth(&mut self, time: i64, place: usize, depth: i64) -> Result<(), Fault> {
        let cell = match depth {
            0 => Cell::default(),
            _ => Cell::of_whole(depth, Kind::Int)?,
        };
        self.modify(time, place, cell)
    }

    /// Pop the last value pushed; null from an empty stack.
    pub fn pop(&mut self, time: i64, place: usize) -> Result<Cell, Fault> {
        self.need(place);
        let depth = self.depth(place)?;
        if depth == 0 {
            return Ok(Cell::default());
        }
        let level = self.level(place, depth)?;
        let cell = self.tracks[level].ongoing.cell.clone();
        self.remove(time, level)?;
        self.set_depth(time, place, depth - 1)?;
        Ok(cell)
    }

    /// Poll the first value offered; the others move up.
    pub fn poll(&mut self, time: i64, place: usize) -> Result<Cell, Fault> {
        self.need(place);
        let depth = self.depth(place)?;
        if depth == 0 {
            return Ok(Cell::default());
        }
        let mut level = self.level(place, 1)?;
        let first = self.tracks[level].ongoing.cell.clone();
        for next in 2..=depth {
            let (to, from) = (self.level(place, next - 1)?, self.level(place, next)?);
            self.fits(to, &self.tracks[from].ongoing.cell)?;
        }
        for next in 2..=depth {
            let below = self.level(place, next)?;
            self.need(below);
            let cell = self.tracks[below].ongoing.cell.clone();
            self.modify(time, level, cell)?;
            level = below;
        }
        self.remove(time, level)?;
        self.set_depth(time, place, depth - 1)?;
        Ok(first)
    }
}
