//! Parse collapsed stacks (`a;b;c 12`) into samples without a time, one for each line.

use super::lines::{Lines, Next};
use crate::ftrace::line::integer;
use crate::perf::tables::{Value, put};
use crate::rows::{Decode, Failure, Learnt, Place, Sink, TextRead};

/// Files of collapsed stacks.
pub struct Collapsed {
    lines: Lines,
    before: u64,
    ended: bool,
}

impl Collapsed {
    pub fn new(lines: Lines) -> Collapsed {
        Collapsed { lines, before: 0, ended: false }
    }

    fn line(&mut self, sink: &mut Sink) {
        let text = self.lines.text().trim_ascii();
        if text.is_empty() {
            return;
        }
        let Some((stack, period)) = split(text) else {
            let text = text.to_vec();
            if text.starts_with(b"#") {
                return self.lines.note("line is a comment", false, &text);
            }
            let reason = "line is not a stack and a number";
            return self.lines.unread(reason, false, &text);
        };
        let line = i64::try_from(self.before + self.lines.number).unwrap_or(i64::MAX);
        let root = stack.split(|b| *b == b';').next().unwrap_or_default();
        let (comm, pid, tid) = task(root).unwrap_or((None, None, None));
        let fields = [
            ("_ts", "ns", Value::Int(Some(0))),
            ("event", "", Value::Text(Some(b"stack"))),
            ("pid", "", Value::Int(pid)),
            ("tid", "", Value::Int(tid)),
            ("comm", "", Value::Text(comm)),
            ("period", "", Value::Int(Some(period))),
            ("stack", "", Value::Text(Some(stack))),
            ("line", "", Value::Int(Some(line))),
        ];
        put(sink, "raw_events.sample", &fields);
    }
}

/// The stack, and the number after its last blank.
fn split(text: &[u8]) -> Option<(&[u8], i64)> {
    let blank = memchr::memrchr2(b' ', b'\t', text)?;
    let period = integer(text.get(blank + 1..)?)?;
    let stack = text.get(..blank)?.trim_ascii();
    (!stack.is_empty()).then_some((stack, period))
}

type Task<'a> = (Option<&'a [u8]>, Option<i64>, Option<i64>);

/// `comm-12/13` or `comm-?/13`, as the usual script writes with the options for processes and threads.
fn task(root: &[u8]) -> Option<Task<'_>> {
    let dash = memchr::memrchr(b'-', root)?;
    let (pid, tid) = match root.get(dash + 1..)? {
        ids if ids.contains(&b'/') => {
            let bar = memchr::memchr(b'/', ids)?;
            let pid = ids.get(..bar)?;
            let pid = match pid {
                b"?" => None,
                pid => Some(integer(pid)?),
            };
            (pid, Some(integer(ids.get(bar + 1..)?)?))
        }
        id => (Some(integer(id)?), None),
    };
    Some((Some(root.get(..dash)?), pid, tid))
}

impl Decode for Collapsed {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        let file = self.lines.file;
        let begin = self.lines.place();
        while !sink.full() && !self.ended {
            match self.lines.next()? {
                Next::Line => self.line(sink),
                Next::End => self.before += self.lines.number,
                Next::Nothing => self.ended = true,
            }
        }
        let place = Place { file, begin, end: self.lines.place().max(begin) };
        Ok((sink.len() > 0).then_some(place))
    }

    fn learnt(&mut self) -> Learnt {
        Learnt { notes: self.lines.notes.take(), properties: vec![("clock".to_owned(), "none".to_owned())] }
    }

    fn lines(&mut self) -> Vec<TextRead> {
        std::mem::take(&mut self.lines.read)
    }
}
