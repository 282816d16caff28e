//! `sessions`: convert events into spans from the first to the last of a run of close events, with their number.

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::held::NULL_ROW;
use super::single::{Row, Spans, Step, StepColumns, Stop, sweep};
use super::source::{ChunkedInput, Kind};
use crate::exchange::{InputStream, OutputStream};

struct Sessions {
    gap: u64,
    open: Vec<Session>,
}

#[derive(Clone, Copy, Default)]
struct Session {
    first: i64,
    last: i64,
    events: i64,
}

/// Add a session; one without length lasts for a nanosecond.
fn settle(session: Session, code: usize, out: &mut Spans) -> Result<(), ArrowError> {
    if session.events > 0 {
        let least = session.first.checked_add(1);
        let least = least.ok_or_else(|| fail("a session at the end of time has no end"))?;
        out.push(session.first, session.last.max(least), code, NULL_ROW)?;
        out.number(session.events);
    }
    Ok(())
}

impl Step for Sessions {
    fn load(&mut self, _: &ChunkedInput, partitions: usize) -> Result<(), ArrowError> {
        self.open.resize(partitions, Session::default());
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: Row, out: &mut Spans) -> Result<(), Stop> {
        let session = &mut self.open[row.code];
        if session.events > 0 && row.ts.abs_diff(session.last) <= self.gap {
            session.last = row.ts;
            session.events += 1;
            return Ok(());
        }
        let new = Session { first: row.ts, last: row.ts, events: 1 };
        let before = std::mem::replace(session, new);
        Ok(settle(before, row.code, out)?)
    }

    fn finish(&mut self, out: &mut Spans) -> Result<(), ArrowError> {
        let mut open = self.open.iter().enumerate();
        open.try_for_each(|(code, session)| settle(*session, code, out))
    }
}

#[pyfunction]
#[pyo3(signature = (events, *, gap, partitions, names, cancel=None))]
pub fn sessions(
    events: InputStream,
    gap: u64,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let reader = events.into_reader();
    let step = Sessions { gap, open: Vec::new() };
    ChunkedInput::new(reader, Kind::Events, partitions, "event", token.clone())
        .and_then(|input| sweep(input, step, (true, StepColumns::numbers(1)), &names, token))
        .map_err(to_python)
}
