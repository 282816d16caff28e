//! The tables of a trace and their columns.

use super::events::Fields;
use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};

/// Columns of `raw_events.call`.
pub mod call {
    pub const TS: usize = 0;
    pub const DUR: usize = 1;
    pub const TID: usize = 2;
    pub const PID: usize = 3;
    pub const DEPTH: usize = 4;
    pub const NAME: usize = 5;
    pub const MODULE: usize = 6;
    pub const ADDRESS: usize = 7;
    pub const ID: usize = 8;
    pub const PARENT: usize = 9;
    pub const SELF: usize = 10;
    pub const ARGS: usize = 11;
    pub const RETVAL: usize = 12;
    pub const STATE: usize = 13;
}

fn columns(list: &[(&str, Type, &'static str)]) -> Vec<ColumnSpec> {
    let columns = list.iter();
    columns.map(|(name, kind, unit)| ColumnSpec::new(*name, *kind).with_unit(unit)).collect()
}

/// The number of the table of calls.
pub fn calls(sink: &mut Sink) -> usize {
    sink.table("raw_events.call", || TableSpec {
        name: "raw_events.call".to_owned(),
        columns: columns(&[
            ("_ts", Type::Int, "ns"),
            ("dur", Type::Int, "ns"),
            ("tid", Type::Int, ""),
            ("pid", Type::Int, ""),
            ("depth", Type::Int, ""),
            ("name", Type::Text, ""),
            ("module", Type::Text, ""),
            ("addr", Type::Int, ""),
            ("id", Type::Int, ""),
            ("parent", Type::Int, ""),
            ("self", Type::Int, "ns"),
            ("args", Type::Text, ""),
            ("retval", Type::Text, ""),
            ("state", Type::Text, ""),
        ]),
        event: Some(EventSpec {
            name: "call".to_owned(),
            named_by: Some("name".to_owned()),
            category: Some("module".to_owned()),
            pid: Some("pid".to_owned()),
            tid: Some("tid".to_owned()),
            duration: Some("dur".to_owned()),
            args: ["depth", "id", "parent", "self", "args", "retval", "state"].map(str::to_owned).to_vec(),
        }),
    })
}

/// The number of a table of events of one name: time, thread, process, number, fields.
pub fn events(sink: &mut Sink, name: &str, fields: Fields) -> usize {
    let table = format!("raw_events.{}", name.replace('.', "_"));
    sink.table(&table, || {
        let mut list = columns(&[
            ("_ts", Type::Int, "ns"),
            ("tid", Type::Int, ""),
            ("pid", Type::Int, ""),
            ("line", Type::Int, ""),
        ]);
        list.extend(columns(fields));
        TableSpec {
            name: table.clone(),
            event: Some(EventSpec {
                name: name.to_owned(),
                pid: Some("pid".to_owned()),
                tid: Some("tid".to_owned()),
                duration: fields.iter().any(|one| one.0 == "dur").then(|| "dur".to_owned()),
                args: fields
                    .iter()
                    .filter(|one| one.0 != "dur")
                    .map(|one| one.0.to_owned())
                    .chain(["line".to_owned()])
                    .collect(),
                ..EventSpec::default()
            }),
            columns: list,
        }
    })
}

/// Columns of `events` before the fields.
pub mod event {
    pub const TS: usize = 0;
    pub const TID: usize = 1;
    pub const PID: usize = 2;
    pub const LINE: usize = 3;
    pub const FIELDS: usize = 4;
}

/// The number of a table without events.
pub fn plain(sink: &mut Sink, name: &str, list: Fields) -> usize {
    sink.table(name, || TableSpec { name: name.to_owned(), columns: columns(list), event: None })
}
