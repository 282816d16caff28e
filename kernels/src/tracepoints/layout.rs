//! Choose the columns of an event's table, and their sources, by the event's description.

use super::expression::Expression;
use super::format::{Field, Format, Order, Shape};
use super::print::{self, Piece};
use crate::ftrace::table::NUMBERED;
use crate::rows::{ColumnSpec, EventSpec, TableSpec, Type};

/// Columns of a trace's tables besides the fields of their events.
#[derive(Clone, Copy, Default)]
pub struct Optional {
    /// Whether processes of threads are known.
    pub tgid: bool,
    /// Whether events come from several buffers.
    pub buffer: bool,
}

/// Columns before the fields; their names are reserved.
const FIXED: [&str; 8] = ["_ts", "cpu", "common_comm", "common_pid", "common_tgid", "common_flags", "line", "buffer"];
const RESERVED: [&str; 3] = ["dur", "cat", "text"];

/// The places of the common columns.
#[derive(Clone, Copy, Default)]
pub struct Common {
    pub tgid: Option<usize>,
    pub flags: usize,
    pub line: Option<usize>,
    pub buffer: Option<usize>,
}

/// The source of a column.
pub enum ColumnSource {
    Number(Field),
    /// A number that may need all 64 bits unsigned.
    Address(Field),
    Text(Field),
    /// A number computed by an expression of the print format, and its conversion.
    Computed(super::text::Conversion, Expression),
    /// A printed text, cached by the number it depends on.
    Printed(Box<Printed>),
    /// The name of the function at an address, and whether to add the offset.
    Symbol(Field, bool),
    /// Names of functions, outermost first, separated by `;`.
    Stack(Field),
    /// Arguments of a system call.
    Arguments(Field),
}

/// A value printed after a name.
pub struct Printed {
    pub pieces: Vec<Piece>,
    /// The only number it depends on.
    pub by: Option<Field>,
    pub known: rustc_hash::FxHashMap<i64, super::symbols::Numbered>,
}

/// A column of an event's table.
pub struct Filled {
    pub spec: ColumnSpec,
    pub source: ColumnSource,
}

/// The columns of an event.
pub fn columns(format: &Format, order: Order) -> Vec<Filled> {
    match format.name.as_str() {
        "function" => symbols(format, &["ip", "parent_ip"]),
        "funcgraph_entry" | "funcgraph_exit" => symbols(format, &["func", "retaddr"]),
        "kernel_stack" | "user_stack" => stack(format),
        "bprint" | "bputs" => Vec::new(),
        "raw_data" => format.fields.iter().map(bytes).collect(),
        "sys_enter" => {
            let mut columns = plain(format);
            for column in &mut columns {
                if let ColumnSource::Text(field) = &column.source
                    && field.name == "args"
                {
                    column.source = ColumnSource::Arguments(field.clone());
                    column.spec.kind = Type::Text;
                }
            }
            columns
        }
        _ => printed(format, order),
    }
}

fn plain(format: &Format) -> Vec<Filled> {
    format.fields.iter().map(of_field).collect()
}

fn of_field(field: &Field) -> Filled {
    let (kind, source) = match field.shape {
        Shape::Number if field.pointer => (Type::Uint, ColumnSource::Address(field.clone())),
        Shape::Number => (Type::Int, ColumnSource::Number(field.clone())),
        _ => (text_type(field), ColumnSource::Text(field.clone())),
    };
    Filled { spec: ColumnSpec::new(field.name.clone(), kind), source }
}

/// What programs write into `trace_marker_raw` is declared as text, and is none.
fn bytes(field: &Field) -> Filled {
    let shape = if field.shape == Shape::Text { Shape::Array(1) } else { field.shape };
    of_field(&Field { shape, ..field.clone() })
}

fn text_type(field: &Field) -> Type {
    match field.shape {
        Shape::Array(1) | Shape::DynamicArray { element: 1, .. } => Type::Text,
        Shape::Array(_) | Shape::DynamicArray { .. } => Type::Json,
        _ => Type::Text,
    }
}

/// The fields, some of them as addresses of functions.
fn symbols(format: &Format, named: &[&str]) -> Vec<Filled> {
    let mut columns = plain(format);
    for column in &mut columns {
        if let ColumnSource::Number(field) | ColumnSource::Address(field) = &column.source
            && named.contains(&field.name.as_str())
        {
            column.source = ColumnSource::Symbol(field.clone(), false);
            column.spec.kind = Type::Text;
        }
    }
    columns
}

fn stack(format: &Format) -> Vec<Filled> {
    let mut columns = plain(format);
    columns.retain(|column| column.spec.name != "size");
    for column in &mut columns {
        if let ColumnSource::Text(field) = &column.source
            && field.name == "caller"
        {
            // The record extends beyond the callers in the description.
            let field = Field { size: 0, ..field.clone() };
            column.spec = ColumnSpec::new("stack", Type::Text);
            column.source = ColumnSource::Stack(field);
        }
    }
    columns
}

/// The fields, and printed values that are not fields.
fn printed(format: &Format, order: Order) -> Vec<Filled> {
    let mut columns = plain(format);
    for named in print::named(format, order) {
        let at = columns.iter().position(|column| column.spec.name == named.name);
        let Some(filled) = of_print(&named.name, named.pieces, at.is_some()) else {
            continue;
        };
        match at {
            None => columns.push(filled),
            // A value printed as a text keeps the name, as in ftrace's text, and the number gets another.
            Some(at) if filled.spec.kind == Type::Text => {
                if is_bytes(&columns[at].source) && is_address(&filled.source) {
                    columns[at] = filled;
                } else if let ColumnSource::Printed(_) | ColumnSource::Symbol(..) = &filled.source {
                    replace(&mut columns, at, filled);
                }
            }
            Some(_) => {}
        }
    }
    for (field, offset) in print::functions(format, order) {
        let of_field = |column: &Filled| column.spec.name == field.name;
        if let Some(at) = columns.iter().position(of_field) {
            let filled = symbol(&columns[at].spec.name.clone(), field, offset);
            replace(&mut columns, at, filled);
        }
    }
    columns
}

/// Put a text in the place of a number, which moves to the end under another name.
fn replace(columns: &mut Vec<Filled>, at: usize, text: Filled) {
    if !is_text(&columns[at].source) {
        let number = std::mem::replace(&mut columns[at], text);
        let number = renamed(number, &columns[at].source);
        columns.push(number);
    }
}

fn is_bytes(source: &ColumnSource) -> bool {
    let of_bytes = |shape| matches!(shape, Shape::Array(1) | Shape::DynamicArray { element: 1, .. });
    matches!(source, ColumnSource::Text(field) if of_bytes(field.shape))
}

/// Whether it prints bytes as an address.
fn is_address(source: &ColumnSource) -> bool {
    let of_address = |piece: &Piece| matches!(piece, Piece::Value(conversion, _) if conversion.is_address());
    matches!(source, ColumnSource::Printed(printed) if printed.pieces.iter().any(of_address))
}

fn symbol(name: &str, field: Field, offset: bool) -> Filled {
    Filled { spec: ColumnSpec::new(name, Type::Text), source: ColumnSource::Symbol(field, offset) }
}

fn is_text(source: &ColumnSource) -> bool {
    !matches!(source, ColumnSource::Number(_) | ColumnSource::Address(_))
}

/// The column of the number for a text.
fn renamed(mut column: Filled, text: &ColumnSource) -> Filled {
    column.spec.name = format!("{}_number", column.spec.name);
    if let (ColumnSource::Number(field), ColumnSource::Symbol(..)) = (&column.source, text) {
        column.source = ColumnSource::Address(field.clone());
        column.spec.kind = Type::Uint;
    }
    column
}

/// The printed value, if a column of that name can hold more than the existing one.
fn of_print(name: &str, mut pieces: Vec<Piece>, known: bool) -> Option<Filled> {
    let text = |source| Filled { spec: ColumnSpec::new(name, Type::Text), source };
    if let [Piece::Value(..), Piece::Literal(unit)] = pieces.as_slice()
        && unit == b"B"
    {
        pieces.pop();
    }
    if let [Piece::Value(conversion, value)] = pieces.as_slice() {
        if conversion.is_number() {
            if known || matches!(value, Expression::Number(_)) {
                return None;
            }
            return Some(Filled {
                spec: ColumnSpec::new(name, Type::Int),
                source: ColumnSource::Computed(conversion.clone(), value.clone()),
            });
        }
        if conversion.is_symbol() {
            let Expression::Field(field) = value else {
                return None;
            };
            return Some(symbol(name, field.clone(), conversion.shows_offset()));
        }
        if conversion.is_plain_pointer() {
            return None;
        }
        if let Expression::Field(field) = value
            && field.shape != Shape::Number
            && !conversion.is_address()
        {
            return (!known).then(|| text(ColumnSource::Text(field.clone())));
        }
    }
    if pieces.iter().any(is_unknown) {
        return None;
    }
    let mut fields = pieces.iter().filter_map(|piece| match piece {
        Piece::Value(_, value) => Some(value.only_field()),
        Piece::Literal(_) => None,
    });
    let first = fields.next()?;
    let by = first.filter(|one| fields.all(|other| other.is_some_and(|other| other.name == one.name)));
    Some(text(ColumnSource::Printed(Box::new(Printed { by: by.cloned(), pieces, known: Default::default() }))))
}

/// Whether only the kernel can print a piece.
fn is_unknown(piece: &Piece) -> bool {
    match piece {
        Piece::Value(conversion, Expression::Field(field)) => {
            conversion.kind == b'p' && !(conversion.is_address() && field.shape != Shape::Number)
                || conversion.kind == b's' && field.shape == Shape::Number
        }
        Piece::Value(conversion, _) => conversion.kind == b'p',
        Piece::Literal(_) => false,
    }
}

/// The table of an event, and the places of its common columns; names of columns are made unique.
pub fn table(name: &str, optional: Optional, columns: &mut [Filled]) -> (TableSpec, Common) {
    let mut specs = vec![
        ColumnSpec::new("_ts", Type::Int).with_unit("ns"),
        ColumnSpec::new("cpu", Type::Int),
        ColumnSpec::new("common_comm", Type::Text),
        ColumnSpec::new("common_pid", Type::Int),
    ];
    let mut add = |wanted: bool, name: &str, kind: Type| {
        wanted.then(|| {
            specs.push(ColumnSpec::new(name, kind));
            specs.len() - 1
        })
    };
    let numbered = NUMBERED.iter().any(|head| name.as_bytes().starts_with(head));
    let common = Common {
        tgid: add(optional.tgid, "common_tgid", Type::Int),
        flags: add(true, "common_flags", Type::Text).unwrap_or_default(),
        line: add(numbered, "line", Type::Int),
        buffer: add(optional.buffer, "buffer", Type::Text),
    };
    let mut taken: Vec<String> = FIXED.iter().chain(&RESERVED).map(|one| (*one).to_owned()).collect();
    for column in columns.iter_mut() {
        while taken.contains(&column.spec.name.to_ascii_lowercase()) {
            column.spec.name.insert_str(0, "field_");
        }
        taken.push(column.spec.name.to_ascii_lowercase());
        specs.push(column.spec.clone());
    }
    let event = EventSpec {
        name: name.to_owned(),
        pid: optional.tgid.then(|| "common_tgid".to_owned()),
        tid: Some("common_pid".to_owned()),
        args: columns.iter().map(|one| one.spec.name.clone()).collect(),
        ..EventSpec::default()
    };
    let spec = TableSpec { name: format!("raw_events.{name}"), columns: specs, event: Some(event) };
    (spec, common)
}
