//! Convert changes of attributes, in time order, into intervals that cover the history of each without gaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cell::{Cell, Kind};
use super::fault::Fault;
use super::partial::{Checkpoints, Replay, other_changes};
use super::track::{Blocks, Mark, Ongoing, Run, Track};
use super::tree::{ROOT, Tree, names};
use super::writer::Writer;

/// The destination of intervals.
pub enum Store {
    /// They are discarded.
    Nothing,
    Memory,
    File(Box<Writer>),
    /// It is closed, and was read from a file.
    Closed,
}

/// A change scheduled for a later time.
pub struct Later {
    pub quark: i64,
    pub cell: Cell,
    pub action: Action,
}

/// The action of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Modify,
    Update,
    Push,
    Pop,
    Offer,
    Poll,
    Increment,
    Remove,
}

impl Action {
    pub const NAMES: [(&'static str, Action); 8] = [
        ("modify", Action::Modify),
        ("update", Action::Update),
        ("push", Action::Push),
        ("pop", Action::Pop),
        ("offer", Action::Offer),
        ("poll", Action::Poll),
        ("increment", Action::Increment),
        ("remove", Action::Remove),
    ];

    /// # Errors
    /// The action does not exist.
    pub fn named(name: &str) -> Result<Action, Fault> {
        let found = Action::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, action)| *action).ok_or_else(|| {
            let names: Vec<_> = Action::NAMES.iter().map(|(name, _)| *name).collect();
            Fault::Value(format!("unknown action `{name}`, expected one of {}", names.join(", ")))
        })
    }
}

/// A history, while it is built and after.
pub struct History {
    pub tree: Arc<Tree>,
    pub tracks: Vec<Track>,
    pub store: Store,
    pub blocks: Blocks,
    pub start: i64,
    /// The time of the latest change.
    pub now: i64,
    /// The last time of all, once the history is closed.
    pub end: Option<i64>,
    pub given_up: bool,
    pub intervals: u64,
    pub partial: Option<Checkpoints>,
    /// The purpose of replayed changes.
    pub replay: Option<Replay>,
    /// Whether there are attributes with coarser states.
    pub mipmapped: bool,
    later: BTreeMap<(i64, u64), Later>,
    asked: u64,
    /// Cache of paths given as texts.
    by_path: FxHashMap<Box<str>, u32>,
}

impl History {
    pub fn new(start: i64, store: Store) -> History {
        History {
            tree: Arc::default(),
            tracks: Vec::new(),
            store,
            blocks: Blocks::Nowhere,
            start,
            now: start,
            end: None,
            given_up: false,
            intervals: 0,
            partial: None,
            replay: None,
            mipmapped: false,
            later: BTreeMap::new(),
            asked: 0,
            by_path: FxHashMap::default(),
        }
    }

    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// The last time with final states.
    pub fn safe(&self) -> i64 {
        self.end.unwrap_or(self.now.saturating_sub(1))
    }

    /// The attribute of this name below another, created if missing.
    ///
    /// # Errors
    /// There are too many.
    pub fn attribute(&mut self, parent: i32, name: &str) -> Result<u32, Fault> {
        if let Some(found) = self.tree.find(parent, name) {
            return Ok(found);
        }
        let made = Arc::make_mut(&mut self.tree).add(parent, name)?;
        self.grow();
        Ok(made)
    }

    /// The same for a whole path in one text: names separated by `/`, with `\` as the escape character.
    ///
    /// # Errors
    /// There are too many attributes.
    pub fn attribute_of(&mut self, path: &str) -> Result<u32, Fault> {
        if let Some(found) = self.by_path.get(path) {
            return Ok(*found);
        }
        let (mut parent, mut quark) = (ROOT, 0);
        for name in names(path) {
            quark = self.attribute(parent, &name)?;
            parent = quark.cast_signed();
        }
        self.by_path.insert(path.into(), quark);
        Ok(quark)
    }

    /// Add tracks for new attributes of the tree.
    pub fn grow(&mut self) {
        let (start, new) = (self.start, self.tree.len());
        self.tracks.resize_with(new, || Track { ongoing: Ongoing::new(start, Cell::default()), ..Track::default() });
    }

    /// # Errors
    /// The history is closed or abandoned.
    pub fn check_open(&self) -> Result<(), Fault> {
        self.check_not_abandoned()?;
        if !self.is_open() {
            return Err(Fault::Closed("the history is closed".to_owned()));
        }
        Ok(())
    }

    /// # Errors
    /// The history is abandoned.
    pub fn check_not_abandoned(&self) -> Result<(), Fault> {
        if self.given_up {
            return Err(Fault::Closed("the history was given up".to_owned()));
        }
        Ok(())
    }

    /// Advance time to a change.
    ///
    /// # Errors
    /// It would go back.
    #[inline]
    pub fn advance(&mut self, time: i64) -> Result<(), Fault> {
        if time >= self.now && self.later.is_empty() && self.is_open() && !self.given_up {
            self.reach(time);
            return Ok(());
        }
        self.advance_far(time)
    }

    fn advance_far(&mut self, time: i64) -> Result<(), Fault> {
        self.check_open()?;
        if time < self.start {
            return Err(Fault::Range(format!("a change at {time} is before the begin of the history, {}", self.start)));
        }
        if time < self.now {
            return Err(Fault::Order(format!(
                "a change at {time} comes after one at {}, expected changes in order of time",
                self.now
            )));
        }
        while self.later.first_key_value().is_some_and(|(key, _)| key.0 <= time) {
            self.make_first()?;
        }
        self.reach(time);
        Ok(())
    }

    /// Apply the first of the scheduled changes.
    fn make_first(&mut self) -> Result<(), Fault> {
        let Some(((time, _), later)) = self.later.pop_first() else {
            return Ok(());
        };
        self.reach(time);
        self.act(time, later.quark, later.action, later.cell).map(drop)
    }

    /// Apply all scheduled changes, however late.
    ///
    /// # Errors
    /// One does not fit.
    pub fn catch_up(&mut self) -> Result<(), Fault> {
        while !self.later.is_empty() {
            self.make_first()?;
        }
        Ok(())
    }

    fn reach(&mut self, time: i64) {
        if let Some(partial) = &mut self.partial {
            partial.advance(self.now, time);
        }
        self.now = time;
    }

    /// Apply a change, after the changes scheduled before it.
    ///
    /// # Errors
    /// It does not fit; then nothing was changed, but time has advanced.
    pub fn change(&mut self, time: i64, quark: i64, action: Action, cell: Cell) -> Result<Cell, Fault> {
        self.tree.place(quark)?;
        self.advance(time)?;
        if let Some(partial) = &mut self.partial {
            partial.count();
        }
        self.act(time, quark, action, cell)
    }

    fn act(&mut self, time: i64, quark: i64, action: Action, cell: Cell) -> Result<Cell, Fault> {
        let place = self.tree.place(quark)?;
        self.check_alone(place, action)?;
        match action {
            Action::Modify => self.modify(time, place, cell).map(|()| Cell::default()),
            Action::Update => self.update(place, cell).map(|()| Cell::default()),
            Action::Push | Action::Offer => self.push(time, place, cell).map(|()| Cell::default()),
            Action::Pop => self.pop(time, place),
            Action::Poll => self.poll(time, place),
            Action::Increment => self.increment(time, place, &cell),
            Action::Remove => self.remove(time, place).map(|()| Cell::default()),
        }
    }

    /// Coarser states change only together with the states of their attribute.
    pub fn check_alone(&self, place: usize, action: Action) -> Result<(), Fault> {
        let touched = match action {
            _ if !self.mipmapped => return Ok(()),
            Action::Remove => self.tree.below(place as u32),
            _ => vec![place as u32],
        };
        match touched.iter().find(|one| self.is_coarse(**one as usize)) {
            None => Ok(()),
            Some(one) => Err(Fault::Value(format!(
                "the attribute `{}` has coarser states, expected changes that keep them",
                self.tree.name(*one as usize)
            ))),
        }
    }

    /// Replays of changes do not know scheduled changes, or the current state of past attributes.
    fn check_repeatable(&self, what: &str) -> Result<(), Fault> {
        if self.partial.is_some() {
            let text = format!("a partial history cannot have {what}, expected another kind");
            return Err(Fault::Value(text));
        }
        Ok(())
    }

    /// Schedule a change for when time has advanced that far.
    ///
    /// # Errors
    /// The attribute does not exist, or the time has passed.
    pub fn ask(&mut self, time: i64, later: Later) -> Result<(), Fault> {
        self.tree.place(later.quark)?;
        self.check_open()?;
        self.check_repeatable("changes that are asked for before their time")?;
        if time < self.now {
            let text = format!("a change for {time} is asked for at {}, which is later", self.now);
            return Err(Fault::Order(text));
        }
        self.later.insert((time, self.asked), later);
        self.asked += 1;
        Ok(())
    }

    /// # Errors
    /// A state has another type than those before.
    #[inline]
    pub fn fits(&self, place: usize, cell: &Cell) -> Result<(), Fault> {
        let known = self.tracks[place].kind;
        if cell.kind == Kind::Null || known == Kind::Null || known == cell.kind {
            return Ok(());
        }
        Err(Fault::Value(format!(
            "the attribute `{}` has states of type {}, found {}",
            self.tree.name(place),
            known.name(),
            cell.kind.name()
        )))
    }

    pub fn modify(&mut self, time: i64, place: usize, cell: Cell) -> Result<(), Fault> {
        self.fits(place, &cell)?;
        let track = &mut self.tracks[place];
        if track.ongoing.cell == cell && track.ongoing.mark != Mark::Unknown {
            return Ok(());
        }
        if cell.kind != Kind::Null {
            track.kind = cell.kind;
        }
        if track.ongoing.start >= time {
            track.ongoing.cell = cell;
            return Ok(());
        }
        let before = std::mem::replace(&mut track.ongoing, Ongoing::new(time, cell));
        self.keep(place, &before, time - 1)
    }

    /// Store an interval that has ended.
    pub fn keep(&mut self, place: usize, state: &Ongoing, end: i64) -> Result<(), Fault> {
        let kept = match &self.partial {
            None => None,
            Some(partial) if state.mark == Mark::Needed || partial.crossed(state.start, 2) => Some(end),
            Some(_) => return Ok(()),
        };
        let track = &mut self.tracks[place];
        if let Some(replay) = &mut self.replay
            && !replay.keeps(state, end, &mut track.last_end)?
        {
            return Ok(());
        }
        match &mut self.store {
            Store::Nothing | Store::Closed => return Ok(()),
            Store::Memory => track.tail.push(state.start, kept, &state.cell),
            Store::File(writer) => {
                track.tail.push(state.start, kept, &state.cell);
                writer.added(&mut self.tracks, place)?;
            }
        }
        self.intervals += 1;
        Ok(())
    }

    fn update(&mut self, place: usize, cell: Cell) -> Result<(), Fault> {
        self.check_repeatable("states that are replaced")?;
        self.fits(place, &cell)?;
        let track = &mut self.tracks[place];
        if cell.kind != Kind::Null {
            track.kind = cell.kind;
        }
        track.ongoing.cell = cell;
        Ok(())
    }

    fn increment(&mut self, time: i64, place: usize, by: &Cell) -> Result<Cell, Fault> {
        self.need(place);
        let before = &self.tracks[place].ongoing.cell;
        let same = before.kind == by.kind;
        let cell = match by.kind {
            Kind::Double => {
                let before = if same { before.number() } else { None };
                Cell::double(before.unwrap_or(0.0) + by.number().unwrap_or(0.0))
            }
            Kind::Int | Kind::Long => {
                let before = if same { before.whole() } else { None };
                let sum = before.unwrap_or(0).checked_add(by.whole().unwrap_or(0));
                let sum = sum.ok_or_else(|| Fault::Value("the sum has more than 64 bits".to_owned()))?;
                Cell::of_whole(sum, by.kind)?
            }
            Kind::Null | Kind::Text => {
                let text = format!("cannot add a {}, expected a number", by.kind.name());
                return Err(Fault::Value(text));
            }
        };
        self.modify(time, place, cell.clone())?;
        Ok(cell)
    }

    /// End the state of an attribute and of all below it.
    pub fn remove(&mut self, time: i64, place: usize) -> Result<(), Fault> {
        for quark in self.tree.below(place as u32) {
            self.modify(time, quark as usize, Cell::default())?;
        }
        Ok(())
    }

    /// Close the history, after the scheduled changes.
    ///
    /// # Errors
    /// It is closed already, or cannot be written.
    pub fn close(&mut self, end: i64) -> Result<(), Fault> {
        self.check_open()?;
        self.catch_up()?;
        let mut end = end.max(self.now);
        if let Some(partial) = &mut self.partial {
            partial.finish(end);
        }
        if let Some(replay) = &self.replay {
            if replay.missing > 0 {
                return Err(other_changes());
            }
            (self.start, end) = (replay.first, replay.last);
        }
        for place in 0..self.tracks.len() {
            let last = std::mem::take(&mut self.tracks[place].ongoing);
            self.keep(place, &last, end)?;
        }
        self.end = Some(end);
        if let Store::File(mut writer) = std::mem::replace(&mut self.store, Store::Closed) {
            writer.finish(self)?;
        } else if self.partial.is_none() {
            self.store = Store::Memory;
        }
        Ok(())
    }

    /// Pass a run of an attribute to a function.
    ///
    /// # Errors
    /// It is damaged, or cannot be read.
    pub fn look<R>(
        &self,
        place: usize,
        run: usize,
        see: impl FnOnce(&Run<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let track = &self.tracks[place];
        if let Some(block) = track.blocks.get(run) {
            let waiting = match &self.store {
                Store::File(writer) => writer.waiting(block),
                _ => None,
            };
            let bytes = match waiting {
                Some(bytes) => std::borrow::Cow::Borrowed(bytes),
                None => self.blocks.bytes(block)?,
            };
            return see(&Run::Block(super::block::View::new(&bytes)?));
        }
        if run == track.blocks.len() && track.tail.len() > 0 {
            return see(&Run::Tail(&track.tail, track.kind));
        }
        see(&Run::Ongoing(&track.ongoing))
    }
}
