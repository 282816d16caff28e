//! Intersect two sorted streams of spans; intersections come out sorted by time.

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::active::Active;
use super::pieces::Pieces;
use super::sides::Sides;
use super::source::Open;
use super::stream::Sweep;

/// Both ends of an intersection are known at its start, so pieces come out in order by themselves.
pub struct Inner {
    sides: Sides,
    state: Vec<[Open; 2]>,
    broadcast: Option<Open>,
    active: Active,
    pieces: Pieces,
}

impl Inner {
    /// Joins the sides; with `broadcast` the second one's spans meet every partition of the first.
    pub fn new(sides: Sides, broadcast: bool) -> Self {
        let broadcast = broadcast.then_some(Open::NEVER);
        Self { sides, state: Vec::new(), broadcast, active: Active::default(), pieces: Pieces::default() }
    }

    /// Sweeps until one side's chunk is used up or a batch is full.
    fn run(&mut self) -> Result<(), ArrowError> {
        let Sides { a, b, partitions, .. } = &mut self.sides;
        while !self.pieces.is_full() {
            let (at, bt) = (a.time(), b.time());
            if at <= bt {
                if a.empty() {
                    return Ok(());
                }
                let (row, code) = (a.pos, a.chunk.code[a.pos]);
                let [left, right] = &mut self.state[code as usize];
                if left.end > at {
                    return Err(a.overlap(left, row, partitions));
                }
                *left = Open { end: a.chunk.end[row], row: a.chunk.base + row as u64 };
                if right.end > at {
                    self.pieces.push(at, left.end.min(right.end) - at, code, left.row, right.row);
                }
                a.pos += 1;
                if a.starved() {
                    return Ok(());
                }
            } else {
                let (row, code) = (b.pos, b.chunk.code[b.pos]);
                let [left, right] = &mut self.state[code as usize];
                if right.end > bt {
                    return Err(b.overlap(right, row, partitions));
                }
                *right = Open { end: b.chunk.end[row], row: b.chunk.base + row as u64 };
                if left.end > bt {
                    self.pieces.push(bt, left.end.min(right.end) - bt, code, left.row, right.row);
                }
                b.pos += 1;
                if b.starved() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn run_broadcast(&mut self, mut every: Open) -> Result<Open, ArrowError> {
        let Sides { a, b, partitions, .. } = &mut self.sides;
        while !self.pieces.is_full() && !a.starved() && !b.starved() {
            let (at, bt) = (a.time(), b.time());
            if at <= bt {
                if a.empty() {
                    break;
                }
                let (row, code) = (a.pos, a.chunk.code[a.pos]);
                let left = &mut self.state[code as usize][0];
                if left.end > at {
                    return Err(a.overlap(left, row, partitions));
                }
                *left = Open { end: a.chunk.end[row], row: a.chunk.base + row as u64 };
                self.active.insert(code);
                if every.end > at {
                    self.pieces.push(at, left.end.min(every.end) - at, code, left.row, every.row);
                }
                a.pos += 1;
            } else {
                if every.end > bt {
                    return Err(b.overlap(&every, b.pos, partitions));
                }
                every = Open { end: b.chunk.end[b.pos], row: b.chunk.base + b.pos as u64 };
                let (state, pieces) = (&self.state, &mut self.pieces);
                self.active.retain(|code| {
                    let left = state[code as usize][0];
                    if left.end > bt {
                        pieces.push(bt, left.end.min(every.end) - bt, code, left.row, every.row);
                    }
                    left.end > bt
                });
                b.pos += 1;
            }
        }
        Ok(every)
    }

    fn release(&mut self) {
        let now = self.sides.now();
        let every = self.broadcast.map(|open| open.row);
        if self.sides.a.held.is_full() {
            let open = self.state.iter().map(|pair| pair[0].row_at(now));
            self.sides.a.held.retain(open.chain(self.pieces.left.iter().copied()));
        }
        if self.sides.b.held.is_full() {
            let open = self.state.iter().map(|pair| pair[1].row_at(now));
            self.sides.b.held.retain(open.chain(every).chain(self.pieces.right.iter().copied()));
        }
    }
}

impl Sweep for Inner {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while !self.pieces.is_full() {
            self.sides.fill()?;
            self.state.resize(self.sides.partitions.len(), [Open::NEVER; 2]);
            if self.sides.ended() {
                break;
            }
            self.release();
            match self.broadcast {
                Some(every) => self.broadcast = Some(self.run_broadcast(every)?),
                None => self.run()?,
            }
        }
        if self.pieces.is_empty() { Ok(None) } else { self.sides.flush(&mut self.pieces).map(Some) }
    }
}
