//! Typed rows of many tables, collected by a decoder and handed to Python chunk by chunk.

mod appended;
mod column;
mod far;
mod notes;
mod pass;
mod sink;
mod whole;

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
    /// What Python calls it.
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
    /// As `units.txt` knows it; empty if there is none.
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

/// How the rows of a table look in `events`, the table of all events of a trace: names of columns.
#[derive(Clone, Debug, Default)]
pub struct EventSpec {
    /// The name of all events of the table, if `named_by` has no column with the name of each.
    pub name: String,
    pub named_by: Option<String>,
    pub category: Option<String>,
    pub pid: Option<String>,
    pub tid: Option<String>,
    pub duration: Option<String>,
    pub args: Vec<String>,
}

/// A table: `raw_events.<name>`, whose first column is `_ts` in absolute ns, or any other, which has no `_ts`.
#[derive(Clone, Debug)]
pub struct TableSpec {
    pub name: String,
    pub columns: Vec<ColumnSpec>,
    /// Only for raw events that `events` shows.
    pub event: Option<EventSpec>,
}

impl TableSpec {
    /// A table that is not of events, whose columns have no units.
    pub fn plain(name: &str, columns: &[(&str, Type)]) -> TableSpec {
        let columns = columns.iter().map(|(name, kind)| ColumnSpec::new(*name, *kind)).collect();
        TableSpec { name: name.to_owned(), columns, event: None }
    }
}
