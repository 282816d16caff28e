//! `span_join`: join two span tables into spans on which both, either or one of them is constant.

use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::failure::to_python;
use super::inner::Inner;
use super::outer::{Keep, Outer};
use super::sides::Sides;
use super::source::{ChunkedInput, Kind};
use super::stream::stream;
use crate::exchange::{InputStream, OutputStream};

/// The form of a join.
enum Form {
    Inner,
    Cut(Keep),
}

#[pyfunction]
#[pyo3(signature = (left, right, *, how, partitions, names, broadcast=None, cancel=None))]
pub fn span_join(
    left: InputStream,
    right: InputStream,
    how: &str,
    partitions: usize,
    names: Vec<String>,
    broadcast: Option<&str>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let (form, swapped) = match (how, broadcast) {
        ("inner", None | Some("right")) => (Form::Inner, false),
        ("inner", Some("left")) => (Form::Inner, true),
        ("outer", None) => (Form::Cut(Keep::Either), false),
        ("left", None | Some("right")) => (Form::Cut(Keep::A), false),
        ("right", None) => (Form::Cut(Keep::B), false),
        ("right", Some("left")) => (Form::Cut(Keep::A), true),
        (how, broadcast) => {
            let text = format!("how={how:?} with broadcast={broadcast:?} is no span join");
            return Err(PyValueError::new_err(text));
        }
    };
    let token = Token::new(cancel);
    let build = |left, right| -> Result<OutputStream, ArrowError> {
        let other = if broadcast.is_some() { 0 } else { partitions };
        let (mine, theirs) = if swapped { (other, partitions) } else { (partitions, other) };
        let left = ChunkedInput::new(left, Kind::Spans, mine, "left", token.clone())?;
        let right = ChunkedInput::new(right, Kind::Spans, theirs, "right", token.clone())?;
        let (a, b) = if swapped { (right, left) } else { (left, right) };
        let (sides, schema) = Sides::new(a, b, swapped, 2, &names)?;
        Ok(match form {
            Form::Inner => stream(schema, Inner::new(sides, broadcast.is_some()), token.clone()),
            Form::Cut(keep) => stream(schema, Outer::new(sides, keep, broadcast.is_some()), token.clone()),
        })
    };
    build(left.into_reader(), right.into_reader()).map_err(to_python)
}
