//! Parse `systemTraceEvents`, the text of the kernel's tracer in a trace, into tables like those of ftrace text.

use super::placing::Placing;
use super::tables::Kind;
use super::texts::plain;
use crate::ftrace::line::{Event, Line, Other, event, parse};
use crate::json::{Scanner, Token};
use crate::perf_text::line::Head;
use crate::perf_text::payload::Row;
use crate::rows::{Sink, TableSpec, Type};

impl Placing {
    /// Read the lines of the kernel's tracer; lines that are not events are kept as text.
    pub fn system_trace(&mut self, value: &[u8], sink: &mut Sink) {
        let token = Scanner::new(value).value(&mut Vec::new());
        let Ok(token @ Token::Text(_)) = token else {
            if !matches!(value, b"[]" | b"{}" | b"null") {
                self.notes.count("`systemTraceEvents` is no text, left out", true, value);
            }
            return;
        };
        let text = plain(token, value, value).unwrap_or_default();
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !self.system_event(line, sink) {
                self.system_line(number, line, sink);
            }
        }
    }

    /// Make a row of an event, or process a header; false if the line is neither.
    fn system_event(&mut self, line: &[u8], sink: &mut Sink) -> bool {
        let (prefix, event_text) = match parse(line) {
            Line::Event(prefix, event_text) => (prefix, event_text),
            Line::Other(other) => return matches!(other, Other::Blank | Other::Header),
            Line::BadTime => return false,
        };
        let Event::Plain(name, rest) = event(event_text) else {
            return false;
        };
        // Tables of this format's own events have other columns.
        if Kind::has_table(name) {
            return false;
        }
        self.line += 1;
        let head = Head {
            comm: prefix.comm,
            pid: prefix.tgid,
            tid: Some(prefix.pid),
            cpu: Some(prefix.cpu),
            ts: Some(prefix.ts),
            period: None,
            event: name,
            rest,
        };
        let row = Row {
            head,
            ts: prefix.ts,
            line: self.line,
            stack: None,
            // `dctv convert` writes shorter ones if a trace has no flags.
            flags: prefix.flags.filter(|flags| flags.len() >= 4),
        };
        self.payloads.row(name, row, sink)
    }

    fn system_line(&mut self, number: usize, line: &[u8], sink: &mut Sink) {
        let table = sink.table("system_trace", spec);
        let file = i64::from(self.notes.file);
        let rows = sink.rows(table);
        rows.int(0, number as i64 + 1);
        rows.text(1, line);
        rows.int(2, file);
        sink.end(table);
        let reason = "line of `systemTraceEvents` that is no event, kept in `system_trace`";
        self.notes.count(reason, false, line);
    }
}

fn spec() -> TableSpec {
    TableSpec::plain("system_trace", &[("line", Type::Int), ("text", Type::Text), ("file", Type::Int)])
}
