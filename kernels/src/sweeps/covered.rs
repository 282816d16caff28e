//! Pieces of spans within a grouper's spans, only while every required partition has a span.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::active::Active;
use super::groups::{Groups, Members};
use super::held::NULL_ROW;
use super::required::Required;
use super::source::Open;
use super::stream::Sweep;

/// A piece is complete when its span, its group or the common cover ends, whichever is first.
pub struct CoveredPieces<M> {
    groups: Groups<M>,
    required: Required,
    group: Open,
    state: Vec<Span>,
    active: Active,
    ends: BinaryHeap<Reverse<(i64, u64, u32)>>,
    entries: u64,
    /// Required partitions that have no span now.
    missing: usize,
    cover: Cover,
}

#[derive(Clone, Copy)]
struct Span {
    open: Open,
    ts: i64,
}

/// The time since which all required partitions have spans.
enum Cover {
    None,
    Since(i64),
    /// One ended at the second time; if it continues at that same time, the cover does too.
    Broken(i64, i64),
}

impl<M: Members> CoveredPieces<M> {
    pub fn new(groups: Groups<M>, required: Required) -> Self {
        Self {
            groups,
            required,
            group: Open::NEVER,
            state: Vec::new(),
            active: Active::default(),
            ends: BinaryHeap::new(),
            entries: 0,
            missing: 0,
            cover: Cover::None,
        }
    }

    fn begin(&mut self) -> Result<(), ArrowError> {
        if self.required.load(&mut self.groups.partitions)? {
            self.missing = self.required.codes().count();
            if self.missing == 0 {
                self.cover = Cover::Since(i64::MIN);
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), ArrowError> {
        while !self.groups.is_full() && !self.groups.starved() {
            let (it, gt) = (self.groups.input.time(), self.groups.grouper.time());
            let now = it.min(gt);
            self.end_until(now);
            self.break_before(now);
            if it <= gt && !self.groups.input.empty() {
                self.begin_span(it)?;
            } else if self.groups.grouper.empty() {
                break;
            } else {
                self.group = self.groups.begin_group(&self.group)?;
            }
        }
        Ok(())
    }

    /// End spans and the group in order of time, up to `now`; at the same time spans first, as their pieces need the
    /// group.
    fn end_until(&mut self, now: i64) {
        loop {
            let span = self.ends.peek().map(|Reverse((time, ..))| *time);
            let group = (self.group.row != NULL_ROW).then_some(self.group.end);
            let Some(time) = span.into_iter().chain(group).min().filter(|&time| time <= now) else {
                return;
            };
            self.break_before(time);
            if span != Some(time) {
                self.emit_all(time);
                self.group.row = NULL_ROW;
            } else if let Some(Reverse((_, _, code))) = self.ends.pop() {
                self.end_span(code, time);
            }
        }
    }

    fn end_span(&mut self, code: u32, t: i64) {
        self.emit(code, t);
        if self.required.contains(code) {
            self.missing += 1;
            if let Cover::Since(since) = self.cover {
                self.cover = Cover::Broken(since, t);
            }
        }
    }

    fn begin_span(&mut self, t: i64) -> Result<(), ArrowError> {
        let input = &self.groups.input;
        let (row, code) = (input.pos, input.chunk.code[input.pos]);
        let span = &mut self.state[code as usize];
        if span.open.end > t {
            return Err(input.overlap(&span.open, row, &mut self.groups.partitions));
        }
        *span = Span { open: Open { end: input.chunk.end[row], row: input.chunk.base + row as u64 }, ts: t };
        self.entries += 1;
        self.ends.push(Reverse((span.open.end, self.entries, code)));
        self.groups.input.pos += 1;
        self.groups.see(code);
        self.active.insert(code);
        if self.required.contains(code) {
            self.missing -= 1;
            if self.missing == 0 {
                self.cover = match self.cover {
                    Cover::Broken(since, _) => Cover::Since(since),
                    _ => Cover::Since(t),
                };
            }
        }
        Ok(())
    }

    /// End the common cover if it broke before `now` and nothing continued at that time.
    fn break_before(&mut self, now: i64) {
        if let Cover::Broken(_, at) = self.cover
            && at < now
        {
            self.emit_all(at);
            self.cover = Cover::None;
        }
    }

    fn emit_all(&mut self, t: i64) {
        let mut active = std::mem::take(&mut self.active);
        active.retain(|code| {
            let open = self.state[code as usize].open.end > t;
            if open {
                self.emit(code, t);
            }
            open
        });
        self.active = active;
    }

    /// Add the partition's piece that ends at `t`, if there is one.
    fn emit(&mut self, code: u32, t: i64) {
        let since = match self.cover {
            Cover::None => return,
            Cover::Since(since) | Cover::Broken(since, _) => since,
        };
        let Some(&group) = self.groups.ts.last().filter(|_| self.group.row != NULL_ROW) else {
            return;
        };
        let span = self.state[code as usize];
        let start = span.ts.max(group).max(since);
        if start < t {
            self.groups.push(code, start, t, span.open.row);
        }
    }
}

impl<M: Members> Sweep for CoveredPieces<M> {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        self.begin()?;
        while !self.groups.is_full() {
            self.groups.fill()?;
            self.state.resize(self.groups.partitions.len(), Span { open: Open::NEVER, ts: 0 });
            if self.groups.done() {
                self.end_until(i64::MAX);
                self.break_before(i64::MAX);
                if !self.groups.finish() {
                    return Ok(None);
                }
                break;
            }
            // A span is needed until the sweep has passed its end, which happens before the next row is taken.
            let now = self.groups.input.time().min(self.groups.grouper.time());
            self.end_until(now);
            self.groups.release(self.state.iter().map(|span| span.open.row_at(now)));
            self.run()?;
        }
        self.groups.flush().map(Some)
    }
}
