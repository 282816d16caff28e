//! Write Python values as lines of text: cells with a separator, or JSON.
//!
//! Integers, booleans, floats and texts are written here; `convert` gives the text of every other value, such as a list
//! or a decimal. In Python alone, a million rows of 14 columns took 8.2 s; in this way they take 1.5 s.

use std::borrow::Cow;
use std::io::Write;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString};

/// The form of a cell's text.
#[derive(Clone, Copy)]
enum Style {
    /// In quotes if it is empty or has a comma, a quote or a line break.
    Csv,
    /// With a backslash before special characters.
    Tsv,
    Json,
}

struct Cells<'a, 'py> {
    style: Style,
    null: &'a str,
    convert: &'a Bound<'py, PyAny>,
}

/// Write rows with a separator between their cells; `quotes` as CSV has it, otherwise with backslashes.
#[pyfunction]
fn delimited_lines<'py>(
    py: Python<'py>,
    columns: Vec<Bound<'py, PyList>>,
    null: &str,
    quotes: bool,
    convert: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (style, separator) = if quotes { (Style::Csv, b',') } else { (Style::Tsv, b'\t') };
    let cells = Cells { style, null, convert: &convert };
    let mut out = Vec::new();
    for row in 0..length(&columns)? {
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                out.push(separator);
            }
            cells.write(&mut out, &column.get_item(row)?)?;
        }
        out.push(b'\n');
    }
    Ok(PyBytes::new(py, &out))
}

/// Write rows as JSON between two texts; each value follows the text of its column, such as its key.
#[pyfunction]
fn json_lines<'py>(
    py: Python<'py>,
    columns: Vec<Bound<'py, PyList>>,
    keys: Vec<String>,
    around: (String, String),
    convert: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let cells = Cells { style: Style::Json, null: "null", convert: &convert };
    if keys.len() != columns.len() {
        return Err(PyValueError::new_err("a key for each column is needed"));
    }
    let mut out = Vec::new();
    for row in 0..length(&columns)? {
        out.extend_from_slice(around.0.as_bytes());
        for (number, (key, column)) in keys.iter().zip(&columns).enumerate() {
            if number > 0 {
                out.push(b',');
            }
            out.extend_from_slice(key.as_bytes());
            cells.write(&mut out, &column.get_item(row)?)?;
        }
        out.extend_from_slice(around.1.as_bytes());
    }
    Ok(PyBytes::new(py, &out))
}

fn length(columns: &[Bound<'_, PyList>]) -> PyResult<usize> {
    let rows = columns.first().map_or(0, |column| column.len());
    if columns.iter().any(|column| column.len() != rows) {
        return Err(PyValueError::new_err("columns differ in length"));
    }
    Ok(rows)
}

impl Cells<'_, '_> {
    fn write(&self, out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            return self.text(out, text);
        }
        if value.is_none() {
            out.extend_from_slice(self.null.as_bytes());
            return Ok(());
        }
        if let Ok(whole) = value.cast_exact::<PyInt>() {
            match whole.extract::<i64>() {
                Ok(number) => write!(out, "{number}")?,
                Err(_) => out.extend_from_slice(whole.str()?.to_str()?.as_bytes()),
            }
            return Ok(());
        }
        if let Ok(truth) = value.cast_exact::<PyBool>() {
            out.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
            return Ok(());
        }
        if let Ok(float) = value.cast_exact::<PyFloat>()
            && float.value().is_finite()
        {
            // Python's digits are the fewest that give the number again.
            let digits = float.repr()?;
            let digits = digits.to_str()?;
            let whole = if matches!(self.style, Style::Json) { None } else { digits.strip_suffix(".0") };
            out.extend_from_slice(whole.unwrap_or(digits).as_bytes());
            return Ok(());
        }
        self.converted(out, value)
    }

    fn converted(&self, out: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = self.convert.call1((value,))?;
        let text = text.cast::<PyString>()?;
        if matches!(self.style, Style::Json) {
            out.extend_from_slice(encoded(text)?.as_bytes());
            return Ok(());
        }
        self.text(out, text)
    }

    fn text(&self, out: &mut Vec<u8>, text: &Bound<'_, PyString>) -> PyResult<()> {
        match text.to_str() {
            Ok(text) => self.characters(out, text),
            // Half of a pair of surrogates has no encoding, but JSON has escapes.
            Err(_) if matches!(self.style, Style::Json) => self.converted(out, text.as_any())?,
            Err(_) => self.characters(out, &String::from_utf8(encoded(text)?.as_bytes().to_vec())?),
        }
        Ok(())
    }

    fn characters(&self, out: &mut Vec<u8>, text: &str) {
        match self.style {
            Style::Csv if text.is_empty() || text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n')) => {
                quoted(out, text, in_csv);
            }
            Style::Csv => out.extend_from_slice(text.as_bytes()),
            Style::Tsv => escaped(out, text, in_tsv),
            Style::Json => quoted(out, text, in_json),
        }
    }
}

fn encoded<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(text.call_method1("encode", ("utf-8", "backslashreplace"))?.cast_into()?)
}

fn quoted(out: &mut Vec<u8>, text: &str, escape: fn(char) -> Option<Cow<'static, str>>) {
    out.push(b'"');
    escaped(out, text, escape);
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, text: &str, escape: fn(char) -> Option<Cow<'static, str>>) {
    let harmless = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    let mut done = text.bytes().position(|byte| !harmless(byte)).unwrap_or(text.len());
    out.extend_from_slice(&text.as_bytes()[..done]);
    while let Some(character) = text.get(done..).and_then(|rest| rest.chars().next()) {
        done += character.len_utf8();
        match escape(character) {
            Some(other) => out.extend_from_slice(other.as_bytes()),
            None => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn in_csv(character: char) -> Option<Cow<'static, str>> {
    (character == '"').then(|| "\"\"".into())
}

fn in_tsv(character: char) -> Option<Cow<'static, str>> {
    Some(match character {
        '\\' => "\\\\".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        _ => return None,
    })
}

/// Characters that JSON cannot have, and those that control terminals, as `cells.harmless_json` has it.
fn in_json(character: char) -> Option<Cow<'static, str>> {
    Some(match character {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        '\u{8}' => "\\b".into(),
        '\u{c}' => "\\f".into(),
        '\0'..' '
        | '\u{7f}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => format!("\\u{:04x}", u32::from(character)).into(),
        _ => return None,
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(delimited_lines, m)?)?;
    m.add_function(wrap_pyfunction!(json_lines, m)?)
}
