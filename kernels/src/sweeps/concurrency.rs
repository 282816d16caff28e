//! `concurrency`: count the open spans in each partition, as spans or at each boundary; spans may overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::held::NULL_ROW;
use super::single::{Row, Spans, Step, StepColumns, Stop, sweep};
use super::source::{ChunkedInput, Kind};
use crate::exchange::{InputStream, OutputStream};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Spans,
    Events,
}

struct Concurrency {
    shape: Shape,
    /// Whether stretches without an open span are part of the result.
    idle: bool,
    /// Whether to ignore boundaries that do not change the number.
    merge: bool,
    parts: Vec<Part>,
}

/// The open spans of one partition, and its current stretch.
#[derive(Clone, Default)]
struct Part {
    ends: BinaryHeap<Reverse<i64>>,
    begun: bool,
    /// The latest boundary.
    at: i64,
    /// The start of the stretch of the current number; before `at` only when merging.
    since: i64,
    shown: i64,
}

impl Concurrency {
    /// End the stretch before `t`, at which spans begin or end.
    #[inline]
    fn boundary(&mut self, code: usize, t: i64, out: &mut Spans) -> Result<(), ArrowError> {
        let part = &mut self.parts[code];
        if !part.begun {
            (part.begun, part.at, part.since, part.shown) = (true, t, t, 0);
            return Ok(());
        }
        if t > part.at {
            let open = part.ends.len() as i64;
            self.settle(code, open, out)?;
            self.parts[code].at = t;
        }
        Ok(())
    }

    /// Report the number of open spans from `at` on.
    #[inline]
    fn settle(&mut self, code: usize, open: i64, out: &mut Spans) -> Result<(), ArrowError> {
        let part = &mut self.parts[code];
        if self.merge && part.shown == open {
            return Ok(());
        }
        let before = (part.since, part.shown);
        (part.since, part.shown) = (part.at, open);
        match self.shape {
            Shape::Events => {
                out.event(part.at, code, NULL_ROW);
                out.number(open);
            }
            Shape::Spans if before.0 < part.at && (self.idle || before.1 > 0) => {
                out.push(before.0, part.at, code, NULL_ROW)?;
                out.number(before.1);
            }
            Shape::Spans => {}
        }
        Ok(())
    }

    #[inline]
    fn expire(&mut self, code: usize, until: i64, out: &mut Spans) -> Result<(), ArrowError> {
        while let Some(Reverse(end)) = self.parts[code].ends.peek().copied()
            && end <= until
        {
            self.boundary(code, end, out)?;
            self.parts[code].ends.pop();
        }
        Ok(())
    }
}

impl Step for Concurrency {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.parts.resize(partitions, Part::default());
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        self.expire(row.code, row.ts, out)?;
        self.boundary(row.code, row.ts, out)?;
        self.parts[row.code].ends.push(Reverse(row.end));
        Ok(())
    }

    fn settle(&mut self, ts: i64, out: &mut Spans) -> Result<(), ArrowError> {
        (0..self.parts.len()).try_for_each(|code| self.expire(code, ts, out))
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        for code in 0..self.parts.len() {
            self.expire(code, i64::MAX, out)?;
            if self.parts[code].begun {
                // Nothing is open from the last end on; merged stretches before it end here.
                self.settle(code, 0, out)?;
            }
        }
        Ok(())
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, names, result="spans", idle=false, merge=false, cancel=None))]
pub fn concurrency(
    spans: InputStream,
    partitions: usize,
    names: Vec<String>,
    result: &str,
    idle: bool,
    merge: bool,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let reader = spans.into_reader();
    let build = || {
        let shape = match result {
            "spans" => Shape::Spans,
            "events" => Shape::Events,
            other => {
                return Err(fail(format!("result is {other:?}, expected \"spans\" or \"events\"")));
            }
        };
        let step = Concurrency { shape, idle, merge, parts: Vec::new() };
        let input = ChunkedInput::new(reader, Kind::Spans, partitions, "span", token.clone())?;
        sweep(input, step, (shape == Shape::Spans, StepColumns::numbers(1)), &names, token)
    };
    build().map_err(to_python)
}
