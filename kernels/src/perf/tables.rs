//! Put rows, given as names and values of columns, into the sink's tables.

use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};

/// A value of a column.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    Int(Option<i64>),
    Uint(Option<u64>),
    Bool(bool),
    Text(Option<&'a [u8]>),
}

impl Value<'_> {
    fn kind(&self) -> Type {
        match self {
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Bool(_) => Type::Bool,
            Value::Text(_) => Type::Text,
        }
    }
}

/// A column's name, unit and value.
pub type Field<'a> = (&'static str, &'static str, Value<'a>);

/// Add a row to a table with the columns of its first row.
pub fn put(sink: &mut Sink, name: &str, fields: &[Field<'_>]) {
    let table = sink.table(name, || spec(name, fields));
    for (column, unit, value) in fields {
        let column = ColumnSpec::new(*column, value.kind()).with_unit(unit);
        let column = sink.column(table, &column);
        let rows = sink.rows(table);
        match *value {
            Value::Int(Some(value)) => rows.int(column, value),
            Value::Uint(Some(value)) => rows.uint(column, value),
            Value::Bool(value) => rows.bool(column, value),
            Value::Text(Some(value)) => rows.text(column, value),
            _ => {}
        }
    }
    sink.end(table);
}

fn spec(name: &str, fields: &[Field<'_>]) -> TableSpec {
    let columns: Vec<ColumnSpec> =
        fields.iter().map(|(name, unit, value)| ColumnSpec::new(*name, value.kind()).with_unit(unit)).collect();
    let has = |column: &str| {
        let found = fields.iter().any(|(name, ..)| *name == column);
        found.then(|| column.to_owned())
    };
    let event = name.strip_prefix("raw_events.").map(|event| EventSpec {
        name: event.to_owned(),
        named_by: has("event"),
        category: None,
        pid: has("pid"),
        tid: has("tid"),
        duration: None,
        args: fields
            .iter()
            .map(|(name, ..)| *name)
            .filter(|name| !matches!(*name, "_ts" | "pid" | "tid" | "line" | "event"))
            .map(str::to_owned)
            .collect(),
    });
    TableSpec { name: name.to_owned(), columns, event }
}
