//! The payload of chunks that have been read, for as long as a row of them may still be needed.

use std::collections::VecDeque;

use arrow_array::ArrayRef;
use arrow_buffer::ScalarBuffer;

use super::meter::{bytes, hold};
use super::source::ROWS;

/// The row reference that gives NULL in every column.
pub const NULL_ROW: u64 = u64::MAX;

/// The payload columns of chunks with rows that may still be needed.
#[derive(Default)]
pub struct Held {
    first: u32,
    chunks: VecDeque<Option<Rows>>,
    rows: usize,
    limit: usize,
}

struct Rows {
    ts: ScalarBuffer<i64>,
    payload: Vec<ArrayRef>,
    bytes: i64,
}

impl Held {
    /// Keep a chunk and return the reference to its first row.
    pub fn push(&mut self, ts: ScalarBuffer<i64>, payload: Vec<ArrayRef>) -> u64 {
        let number = self.first + self.chunks.len() as u32;
        self.rows += ts.len();
        let bytes = bytes(&payload).saturating_add(8 * ts.len() as i64);
        hold(bytes);
        self.chunks.push_back(Some(Rows { ts, payload, bytes }));
        u64::from(number) << 32
    }

    fn get(&self, number: u32) -> Option<&Rows> {
        self.chunks.get(number.wrapping_sub(self.first) as usize)?.as_ref()
    }

    /// The time of a row.
    pub fn time(&self, row: u64) -> i64 {
        self.get((row >> 32) as u32).and_then(|rows| rows.ts.get(row as u32 as usize)).copied().unwrap_or(i64::MIN)
    }

    /// One payload column of the chunk with this number.
    pub fn column(&self, number: u32, column: usize) -> Option<&ArrayRef> {
        self.get(number)?.payload.get(column)
    }

    /// Whether enough is held that it pays to look for chunks to drop.
    pub fn is_full(&self) -> bool {
        self.rows > self.limit.max(4 * ROWS)
    }

    /// Drops the chunks without rows in `needed`, except the newest.
    pub fn retain(&mut self, needed: impl Iterator<Item = u64>) {
        let mut keep = vec![false; self.chunks.len()];
        for row in needed.filter(|&row| row != NULL_ROW) {
            if let Some(flag) = keep.get_mut(((row >> 32) as u32).wrapping_sub(self.first) as usize) {
                *flag = true;
            }
        }
        if let Some(newest) = keep.last_mut() {
            *newest = true;
        }
        for (chunk, keep) in self.chunks.iter_mut().zip(keep) {
            if !keep && let Some(rows) = chunk.take() {
                self.rows -= rows.ts.len();
                hold(-rows.bytes);
            }
        }
        while let Some(None) = self.chunks.front() {
            self.chunks.pop_front();
            self.first += 1;
        }
        self.limit = 2 * self.rows;
    }
}
