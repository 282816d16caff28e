//! Derive coarser and coarser states (maximum, minimum, average) from numeric ones, and store them below the attribute.

use super::cell::{Cell, Kind};
use super::fault::Fault;
use super::history::History;

/// The role of an attribute for coarser states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coarse {
    #[default]
    Nothing = 0,
    /// It has some.
    Base = 1,
    /// Its state is the number of levels.
    Levels = 2,
    /// It has the states of a level.
    Level = 3,
}

impl Coarse {
    pub fn of(number: u8) -> Option<Coarse> {
        [Coarse::Nothing, Coarse::Base, Coarse::Levels, Coarse::Level].get(usize::from(number)).copied()
    }
}

impl History {
    /// Whether an attribute changes only together with others.
    pub fn is_coarse(&self, place: usize) -> bool {
        let of = |place: usize| self.tracks[place].coarse;
        let above = usize::try_from(self.tree.parent(place));
        of(place) != Coarse::Nothing || above.is_ok_and(|above| of(above) == Coarse::Levels)
    }

    /// Whether the name of coarser states is free: an existing attribute must not have states of its own.
    fn check_free(&self, base: usize, feature: Feature) -> Result<(), Fault> {
        let Some(top) = self.tree.find(base as i32, feature.name()) else {
            return Ok(());
        };
        let own = self.tree.below(top).into_iter().find(|one| {
            let track = &self.tracks[*one as usize];
            track.kind != Kind::Null || track.coarse != Coarse::Nothing
        });
        match own {
            None => Ok(()),
            Some(one) => Err(Fault::Value(format!(
                "the attribute `{}` has states of its own, expected none where coarser ones of `{}` are kept",
                self.tree.path(one as usize),
                self.tree.path(base)
            ))),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    Max,
    Min,
    Avg,
}

impl Feature {
    pub const ALL: [Feature; 3] = [Feature::Max, Feature::Min, Feature::Avg];

    pub fn name(self) -> &'static str {
        match self {
            Feature::Max => "max",
            Feature::Min => "min",
            Feature::Avg => "avg",
        }
    }
}

/// A value from a time until another, exclusive.
#[derive(Clone)]
struct Entry {
    start: i64,
    end: i64,
    cell: Cell,
}

struct Levels {
    feature: Feature,
    /// The attribute with the number of levels as its state.
    quark: usize,
    /// Entries to be merged into the next entry of each level.
    waiting: Vec<Vec<Entry>>,
    /// Attributes of the levels.
    made: Vec<usize>,
}

/// The coarser states of an attribute.
pub struct Mipmap {
    base: usize,
    resolution: usize,
    wanted: Vec<Feature>,
    features: Vec<Levels>,
    current: Option<(i64, Cell)>,
}

impl Mipmap {
    /// # Errors
    /// The history cannot have coarser states.
    pub fn new(
        history: &mut History,
        base: usize,
        first: &Cell,
        (resolution, features): (usize, &[Feature]),
    ) -> Result<Mipmap, Fault> {
        if history.partial.is_some() {
            let text = "a partial history keeps no coarser states, expected another kind";
            return Err(Fault::Value(text.to_owned()));
        }
        if history.tracks[base].kind == Kind::Text || first.kind == Kind::Text {
            return Err(no_number());
        }
        for feature in features {
            history.check_free(base, *feature)?;
        }
        history.mipmapped = true;
        history.tracks[base].coarse = Coarse::Base;
        Ok(Mipmap { base, resolution, wanted: features.to_vec(), features: Vec::new(), current: None })
    }

    /// Change the attribute, and what is above it.
    ///
    /// # Errors
    /// The value is not a number, or of another type.
    pub fn modify(&mut self, history: &mut History, time: i64, cell: Cell) -> Result<(), Fault> {
        if cell.kind == Kind::Text {
            return Err(no_number());
        }
        history.advance(time)?;
        if self.features.is_empty() && cell.kind != Kind::Null {
            history.fits(self.base, &cell)?;
            self.begin(history, time)?;
        }
        history.modify(time, self.base, cell.clone())?;
        if self.current.as_ref().is_some_and(|(_, current)| *current == cell) {
            return Ok(());
        }
        let there = cell.kind != Kind::Null;
        // A state without duration is not an entry.
        let before = self.current.replace((time, cell));
        let ended = before.filter(|(start, cell)| *start < time && cell.kind != Kind::Null);
        let entry = ended.map(|(start, cell)| Entry { start, end: time, cell });
        for levels in &mut self.features {
            levels.waiting[0].extend(entry.clone());
            if there {
                levels.close_full(history, time, self.resolution)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, history: &mut History, time: i64) -> Result<(), Fault> {
        for feature in &self.wanted {
            history.check_free(self.base, *feature)?;
        }
        for feature in &self.wanted {
            let quark = history.attribute(self.base as i32, feature.name())?;
            history.tracks[quark as usize].coarse = Coarse::Levels;
            history.modify(time, quark as usize, Cell::int(0))?;
            self.features.push(Levels {
                feature: *feature,
                quark: quark as usize,
                waiting: vec![Vec::new()],
                made: Vec::new(),
            });
        }
        Ok(())
    }

    /// Write waiting entries, at the end of the history.
    ///
    /// # Errors
    /// The history cannot be written.
    pub fn finish(&mut self, history: &mut History, end: i64) -> Result<(), Fault> {
        let last = self.current.take().filter(|(_, cell)| cell.kind != Kind::Null);
        for levels in &mut self.features {
            if let Some((start, cell)) = &last {
                levels.waiting[0].push(Entry { start: *start, end, cell: cell.clone() });
            }
            for level in 0..levels.made.len() {
                if !levels.waiting[level].is_empty() {
                    levels.close(history, level, end)?;
                }
            }
        }
        Ok(())
    }
}

fn no_number() -> Fault {
    Fault::Value("only numbers have a maximum, a minimum and an average".to_owned())
}

impl Levels {
    fn close_full(&mut self, history: &mut History, time: i64, resolution: usize) -> Result<(), Fault> {
        let mut level = 0;
        while level < self.waiting.len() && self.waiting[level].len() >= resolution {
            self.close(history, level, time)?;
            level += 1;
        }
        Ok(())
    }

    /// Merge the waiting entries of a level into one entry of it.
    fn close(&mut self, history: &mut History, level: usize, end: i64) -> Result<(), Fault> {
        let parts = std::mem::take(&mut self.waiting[level]);
        let Some(start) = parts.first().map(|one| one.start) else {
            return Ok(());
        };
        if self.made.len() == level {
            let name = (level + 1).to_string();
            let quark = history.attribute(self.quark as i32, &name)?;
            history.tracks[quark as usize].coarse = Coarse::Level;
            self.made.push(quark as usize);
            let count = i32::try_from(level + 1).unwrap_or(i32::MAX);
            history.tracks[self.quark].ongoing.cell = Cell::int(count);
            self.waiting.push(Vec::new());
        }
        let cell = combined(self.feature, &parts, start, end);
        history.modify(start, self.made[level], cell.clone())?;
        self.waiting[level + 1].push(Entry { start, end, cell });
        Ok(())
    }
}

fn combined(feature: Feature, parts: &[Entry], start: i64, end: i64) -> Cell {
    if feature == Feature::Avg {
        let sum: f64 = parts.iter().map(|one| weighted(&one.cell, one.start, one.end)).sum();
        let length = span(start, end);
        return Cell::double(if length > 0.0 { sum / length } else { 0.0 });
    }
    let cells = parts.iter().map(|one| &one.cell);
    let best = cells.reduce(|one, other| if better(feature, other, one) { other } else { one });
    best.cloned().unwrap_or_default()
}

/// Whether a number is greater, or less, than another of its type.
pub fn better(feature: Feature, one: &Cell, other: &Cell) -> bool {
    let order = match (one.whole(), other.whole()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.number().partial_cmp(&other.number()),
    };
    order.is_some_and(|order| if feature == Feature::Max { order.is_gt() } else { order.is_lt() })
}

pub fn span(start: i64, end: i64) -> f64 {
    end.saturating_sub(start) as f64
}

pub fn weighted(cell: &Cell, start: i64, end: i64) -> f64 {
    cell.number().unwrap_or(0.0) * span(start, end)
}
