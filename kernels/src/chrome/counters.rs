//! Convert each counter event into one row for each of its series.

use super::event::Field;
use super::placing::{Placed, Placing};
use super::tables::{ARGS, Extra, Kind, OWN};
use super::texts::{plain, unquoted};
use super::tracks::Group;
use crate::json::{Invalid, Token, members};
use crate::rows::Sink;

impl Placing {
    /// Each member of a counter's args is a series of its own.
    pub fn counter(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let args = placed.event.raw(Field::Args, placed.text);
        let series = match placed.event.get(Field::Args) {
            Token::Nested(_) => series(args).ok(),
            _ => None,
        };
        match series {
            Some(series) if !series.is_empty() => {
                for one in series {
                    self.value(placed, Some(&one), sink);
                }
            }
            _ => {
                let reason = "counter has no series";
                self.notes.count(reason, false, placed.text);
                self.value(placed, None, sink);
            }
        }
    }

    fn value(&mut self, placed: &Placed<'_>, series: Option<&Series<'_>>, sink: &mut Sink) {
        let name = placed.plain(Field::Name);
        let found = placed.group();
        let id = found.as_ref().map(|id| id.text.as_slice());
        let pid = placed.pid.unwrap_or_default().to_le_bytes();
        let key = series.map(|series| series.name.as_slice());
        let group = Group {
            kind: "counter",
            key: &[
                name.as_deref().unwrap_or_default(),
                id.unwrap_or_default(),
                key.unwrap_or_default(),
                &pid,
                &[u8::from(placed.pid.is_some()), u8::from(id.is_some())],
            ],
            pid: placed.pid,
            tid: None,
            parent: placed.pid.map(|pid| self.tracks.process(Some(pid))),
            name: name.as_deref(),
            cat: None,
            scope: None,
            id,
            series: key,
        };
        let track = self.tracks.group(&group, sink);
        let handle = self.base(placed, track, sink);
        if let Some(series) = series {
            let rows = sink.rows(handle.table);
            rows.text(handle.name + ARGS, &series.name);
            let value = super::decimal::number(series.value, series.args);
            match value {
                Some(value) => rows.float(OWN, value),
                None if series.value != Token::Null => {
                    self.notes.count("counter's value is no number", false, placed.text);
                    let text = plain(series.value, series.raw, series.args).unwrap_or_default();
                    self.extra_text(Kind::Counter, Extra::Text, &text, sink);
                }
                None => (),
            }
        }
        self.extras(placed, sink);
        sink.end(handle.table);
    }
}

struct Series<'a> {
    name: Vec<u8>,
    value: Token,
    raw: &'a [u8],
    args: &'a [u8],
}

fn series(args: &[u8]) -> Result<Vec<Series<'_>>, Invalid> {
    let mut found = Vec::new();
    members(args, |key, value, raw| {
        found.push(Series { name: unquoted(key, args).into_owned(), value, raw, args });
        Ok(())
    })?;
    Ok(found)
}
