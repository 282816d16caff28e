//! State values: nothing, an int, a long, a double or a text, and their conversion from Python.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use super::fault::Fault;

/// Maximum bytes of a text as a state.
const LONGEST: usize = 32_767;

/// The kind of a value. An attribute has the kind of its first value that is not null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Null = 0,
    Int = 1,
    Long = 2,
    Double = 3,
    Text = 4,
}

impl Kind {
    pub fn of(number: u8) -> Option<Kind> {
        [Kind::Null, Kind::Int, Kind::Long, Kind::Double, Kind::Text].get(usize::from(number)).copied()
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Int => "int",
            Kind::Long => "long",
            Kind::Double => "double",
            Kind::Text => "string",
        }
    }
}

/// A value: its kind, and its bits or its text.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub kind: Kind,
    pub bits: u64,
    pub text: Option<Box<str>>,
}

/// A borrowed value.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    pub kind: Kind,
    pub bits: u64,
    pub text: &'a str,
}

impl Value<'_> {
    pub const NULL: Value<'static> = Value { kind: Kind::Null, bits: 0, text: "" };

    pub fn to_cell(self) -> Cell {
        Cell { kind: self.kind, bits: self.bits, text: (self.kind == Kind::Text).then(|| self.text.into()) }
    }
}

impl Cell {
    pub fn value(&self) -> Value<'_> {
        Value { kind: self.kind, bits: self.bits, text: self.text.as_deref().unwrap_or("") }
    }

    pub fn int(value: i32) -> Cell {
        Cell { kind: Kind::Int, bits: i64::from(value).cast_unsigned(), text: None }
    }

    pub fn long(value: i64) -> Cell {
        Cell { kind: Kind::Long, bits: value.cast_unsigned(), text: None }
    }

    pub fn double(value: f64) -> Cell {
        Cell { kind: Kind::Double, bits: value.to_bits(), text: None }
    }

    /// # Errors
    /// The text is too long.
    pub fn text(value: &str) -> Result<Cell, Fault> {
        if value.len() > LONGEST {
            return Err(Fault::Value(format!(
                "a state of {} bytes is too long, at most {LONGEST} are possible",
                value.len()
            )));
        }
        Ok(Cell { kind: Kind::Text, bits: 0, text: Some(value.into()) })
    }

    /// The number of an int or a long.
    pub fn whole(&self) -> Option<i64> {
        matches!(self.kind, Kind::Int | Kind::Long).then(|| self.bits.cast_signed())
    }

    /// Its number, if it has one.
    pub fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Int | Kind::Long => Some(self.bits.cast_signed() as f64),
            Kind::Double => Some(f64::from_bits(self.bits)),
            Kind::Null | Kind::Text => None,
        }
    }

    /// An integer as a value of a kind; a long if the kind is open.
    ///
    /// # Errors
    /// It is too large for an int.
    pub fn of_whole(value: i64, kind: Kind) -> Result<Cell, Fault> {
        if kind != Kind::Int {
            return Ok(Cell::long(value));
        }
        match i32::try_from(value) {
            Ok(value) => Ok(Cell::int(value)),
            Err(_) => Err(Fault::Value(format!("{value} is too large for an int"))),
        }
    }

    /// Convert a Python value to an attribute's kind `known`, or to kind `wanted` if that is given.
    ///
    /// # Errors
    /// It is of another type, or too large.
    pub fn from_python(value: &Bound<'_, PyAny>, wanted: Option<Kind>, known: Kind) -> Result<Cell, Fault> {
        if value.is_none() {
            return Ok(Cell::default());
        }
        if let Ok(text) = value.cast::<PyString>() {
            let Ok(text) = text.to_str() else {
                return Err(Fault::Value("a state is no Unicode text".to_owned()));
            };
            return Cell::text(text);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            return Ok(Cell::double(number.value()));
        }
        if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
            let Ok(number) = value.extract::<i64>() else {
                return Err(Fault::Value("the number has more than 64 bits".to_owned()));
            };
            return Cell::of_whole(number, wanted.unwrap_or(known));
        }
        let kind = value.get_type();
        Err(Fault::Value(format!("a state is None, an int, a float or a str, found {kind}")))
    }

    /// # Errors
    /// Python cannot create the object.
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.kind {
            Kind::Null => py.None().into_bound(py),
            Kind::Int | Kind::Long => self.bits.cast_signed().into_pyobject(py)?.into_any(),
            Kind::Double => f64::from_bits(self.bits).into_pyobject(py)?.into_any(),
            Kind::Text => PyString::new(py, self.text.as_deref().unwrap_or("")).into_any(),
        })
    }
}

impl PartialEq for Cell {
    /// The bits of a text from a block are its number there, which is not part of its value.
    fn eq(&self, other: &Cell) -> bool {
        self.kind == other.kind
            && match self.kind {
                Kind::Text => self.text == other.text,
                _ => self.bits == other.bits,
            }
    }
}

impl Eq for Cell {}
