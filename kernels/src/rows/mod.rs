//! Typed rows of many tables, collected by a decoder and passed to Python chunk by chunk.

mod appended;
mod column;
mod far;
mod notes;
mod pass;
mod sink;

use pyo3::prelude::*;

pub use column::RowColumn;
pub use notes::{Note, Notes};
pub use pass::{Decode, Failure, Learnt, Place, RowPass, TextRead, register};
pub use sink::{Rows, Sink};

/// The type of a column's values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Int,
    Uint,
    Float,
    Bool,
    Text,
    /// Text that is JSON.
    Json,
}

impl Type {
    /// Its name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Float => "float",
            Type::Bool => "bool",
            Type::Text => "text",
            Type::Json => "json",
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    pub name: String,
    pub kind: Type,
    /// As in `units.txt`; empty if there is none.
    pub unit: &'static str,
}

impl ColumnSpec {
    pub fn new(name: impl Into<String>, kind: Type) -> ColumnSpec {
        ColumnSpec { name: name.into(), kind, unit: "" }
    }

    pub fn with_unit(mut self, unit: &'static str) -> ColumnSpec {
        self.unit = unit;
        self
    }
}

/// The mapping of a table's columns to `events`, the table of all events of a trace.
#[derive(Clone, Debug, Default, IntoPyObjectRef)]
pub struct EventSpec {
    /// The name of all events of the table, if `named_by` does not give a column of names.
    pub name: String,
    pub named_by: Option<String>,
    pub category: Option<String>,
    pub pid: Option<String>,
    pub tid: Option<String>,
    pub duration: Option<String>,
    pub args: Vec<String>,
}

/// A table: `raw_events.<name>`, with `_ts` in absolute ns as its first column, or any other, without `_ts`.
#[derive(Clone, Debug)]
pub struct TableSpec {
    pub name: String,
    pub columns: Vec<ColumnSpec>,
    /// Only for raw events that are part of `events`.
    pub event: Option<EventSpec>,
}

impl TableSpec {
    /// A table without events, and without units.
    pub fn plain(name: &str, columns: &[(&str, Type)]) -> TableSpec {
        let columns = columns.iter().map(|(name, kind)| ColumnSpec::new(*name, *kind)).collect();
        TableSpec { name: name.to_owned(), columns, event: None }
    }
}
