//! `systemTraceEvents`, text of the kernel's tracer inside of a trace -> the table `system_trace`.

use super::placing::Placing;
use super::texts::plain;
use crate::json::{Scanner, Token};
use crate::rows::{ColumnSpec, Sink, TableSpec, Type};

impl Placing {
    /// Keep the lines of the kernel's tracer.
    pub fn system_trace(&mut self, value: &[u8], sink: &mut Sink) {
        let token = Scanner::new(value).value(&mut Vec::new());
        let Ok(token @ Token::Text(_)) = token else {
            if !matches!(value, b"[]" | b"{}" | b"null") {
                self.notes
                    .count("`systemTraceEvents` is no text, left out", true, value);
            }
            return;
        };
        let text = plain(token, value, value).unwrap_or_default();
        let file = i64::from(self.notes.file);
        let table = sink.table("system_trace", spec);
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let rows = sink.rows(table);
            rows.int(0, number as i64 + 1);
            rows.text(1, line);
            rows.int(2, file);
            sink.end(table);
            let reason = "line of `systemTraceEvents`, kept in `system_trace`";
            self.notes.count(reason, false, line);
        }
    }
}

fn spec() -> TableSpec {
    TableSpec {
        name: "system_trace".to_owned(),
        columns: vec![
            ColumnSpec::new("line", Type::Int),
            ColumnSpec::new("text", Type::Text),
            ColumnSpec::new("file", Type::Int),
        ],
        event: None,
    }
}
