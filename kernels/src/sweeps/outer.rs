//! Cut two sorted streams of spans at the boundaries of both, into pieces where the wanted side covers them, sorted by
//! time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::active::Active;
use super::pieces::Pieces;
use super::sides::Sides;
use super::slots::{NO_SLOT, Slots};
use super::source::{Open, STEP};
use super::stream::Sweep;

/// The pieces to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Either,
    A,
    B,
}

/// A piece from its start on; it becomes shorter if another span begins before its end.
struct Slot {
    ts: i64,
    duration: i64,
    code: u32,
    a: u64,
    b: u64,
}

/// Pieces get a slot at their start, in order of time, and leave from the front once the sweep has passed their end.
pub struct Outer {
    sides: Sides,
    keep: Keep,
    state: Vec<Partition>,
    every: Option<Broadcast>,
    slots: Slots<Slot>,
    /// Times at which one side ends while the other continues; the number in the middle makes ties come in order of
    /// entry.
    ends: BinaryHeap<Reverse<(i64, u64, u32)>>,
    entries: u64,
    pieces: Pieces,
}

#[derive(Clone, Copy)]
struct Partition {
    a: Open,
    b: Open,
    slot: u64,
}

/// The broadcast side: its open span and the partitions it may meet.
struct Broadcast {
    open: Open,
    active: Active,
}

impl Outer {
    /// Joins the sides; with `broadcast` the second one's spans meet every partition of the first (and `keep` is `A`).
    pub fn new(sides: Sides, keep: Keep, broadcast: bool) -> Self {
        let every = broadcast.then(|| Broadcast { open: Open::NEVER, active: Active::default() });
        Self {
            sides,
            keep,
            state: Vec::new(),
            every,
            slots: Slots::default(),
            ends: BinaryHeap::new(),
            entries: 0,
            pieces: Pieces::default(),
        }
    }

    /// Sweeps until a side's chunk is used up or enough slots are taken.
    fn run(&mut self) -> Result<(), ArrowError> {
        for _ in 0..STEP {
            if self.sides.a.starved() || self.sides.b.starved() {
                break;
            }
            let (at, bt) = (self.sides.a.time(), self.sides.b.time());
            self.end_until(at.min(bt));
            if at <= bt {
                if self.sides.a.empty() {
                    break;
                }
                self.begin_a(at)?;
            } else {
                self.begin_b(bt)?;
            }
        }
        Ok(())
    }

    /// Cuts where one side ended and the other continues, up to `now`.
    fn end_until(&mut self, now: i64) {
        while let Some(&Reverse((time, _, code))) = self.ends.peek()
            && time <= now
        {
            self.ends.pop();
            if self.every.is_some() {
                self.cut_all(time);
            } else {
                self.cut(code, time);
            }
        }
    }

    fn begin_a(&mut self, t: i64) -> Result<(), ArrowError> {
        let Sides { a, partitions, .. } = &mut self.sides;
        let (row, code) = (a.pos, a.chunk.code[a.pos]);
        let state = &mut self.state[code as usize];
        if state.a.end > t {
            return Err(a.overlap(&state.a, row, partitions));
        }
        state.a = Open { end: a.chunk.end[row], row: a.chunk.base + row as u64 };
        if let Some(every) = &mut self.every {
            state.b = every.open;
            every.active.insert(code);
        }
        a.pos += 1;
        self.cut(code, t);
        Ok(())
    }

    fn begin_b(&mut self, t: i64) -> Result<(), ArrowError> {
        let Sides { b, partitions, .. } = &mut self.sides;
        let (row, code) = (b.pos, b.chunk.code[b.pos]);
        let known =
            self.every.as_ref().map_or(self.state.get(code as usize).map(|state| state.b), |every| Some(every.open));
        if let Some(known) = known
            && known.end > t
        {
            return Err(b.overlap(&known, row, partitions));
        }
        let open = Open { end: b.chunk.end[row], row: b.chunk.base + row as u64 };
        b.pos += 1;
        if let Some(every) = &mut self.every {
            every.open = open;
            self.push_end(open.end, 0);
            self.cut_all(t);
        } else {
            self.state[code as usize].b = open;
            self.cut(code, t);
        }
        Ok(())
    }

    fn push_end(&mut self, time: i64, code: u32) {
        self.entries += 1;
        self.ends.push(Reverse((time, self.entries, code)));
    }

    /// Cuts every partition that may have an open span.
    fn cut_all(&mut self, t: i64) {
        let Some(mut every) = self.every.take() else {
            return;
        };
        every.active.retain(|code| {
            let state = &mut self.state[code as usize];
            let open = state.a.end > t;
            if open {
                state.b = every.open;
                self.cut(code, t);
            }
            open
        });
        self.every = Some(every);
    }

    /// End the partition's piece at `t` and begin the next one if a wanted side is open.
    fn cut(&mut self, code: u32, t: i64) {
        let Partition { a, b, slot } = self.state[code as usize];
        let (in_a, in_b) = (a.end > t, b.end > t);
        let end = match (in_a, in_b) {
            (true, true) => a.end.min(b.end),
            (true, false) => a.end,
            _ => b.end,
        };
        if in_a && in_b && self.every.is_none() && self.goes_on(a.end, b.end) {
            self.push_end(end, code);
        }
        let wanted = match self.keep {
            Keep::Either => in_a || in_b,
            Keep::A => in_a,
            Keep::B => in_b,
        };
        let fresh = Slot { ts: t, duration: end.wrapping_sub(t), code, a: a.row_at(t), b: b.row_at(t) };
        match self.slots.get(slot) {
            Some(begun) if begun.ts == t => *begun = fresh,
            begun => {
                if let Some(begun) = begun {
                    begun.duration = begun.duration.min(t.saturating_sub(begun.ts));
                }
                self.state[code as usize].slot = if wanted { self.slots.begin(fresh) } else { NO_SLOT };
            }
        }
    }

    /// Whether a wanted piece remains where the first of two open spans ends.
    fn goes_on(&self, a: i64, b: i64) -> bool {
        match self.keep {
            Keep::Either => a != b,
            Keep::A => a > b,
            Keep::B => b > a,
        }
    }

    /// Move the slots that are final to the output.
    fn settle(&mut self, now: i64) {
        while !self.pieces.is_full()
            && let Some(slot) = self.slots.pop_if(|slot| slot.ts + slot.duration <= now)
        {
            self.pieces.push(slot.ts, slot.duration, slot.code, slot.a, slot.b);
        }
    }

    fn release(&mut self) {
        let now = self.sides.now();
        let every = self.every.as_ref().map(|every| every.open.row);
        let slots = &self.slots;
        if self.sides.a.held.is_full() {
            let open = self.state.iter().map(|state| state.a.row_at(now)).chain(slots.iter().map(|slot| slot.a));
            self.sides.a.held.retain(open.chain(self.pieces.left.iter().copied()));
        }
        if self.sides.b.held.is_full() {
            let open = self.state.iter().map(|state| state.b.row_at(now)).chain(slots.iter().map(|slot| slot.b));
            self.sides.b.held.retain(open.chain(every).chain(self.pieces.right.iter().copied()));
        }
    }
}

impl Sweep for Outer {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        loop {
            self.sides.fill()?;
            self.state.resize(self.sides.partitions.len(), Partition { a: Open::NEVER, b: Open::NEVER, slot: NO_SLOT });
            let ended = self.sides.ended();
            if ended {
                self.end_until(i64::MAX);
            }
            self.settle(self.sides.now());
            if self.pieces.is_full() || ended {
                break;
            }
            self.release();
            self.run()?;
        }
        if self.pieces.is_empty() { Ok(None) } else { self.sides.flush(&mut self.pieces).map(Some) }
    }
}
