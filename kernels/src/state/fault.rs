//! Convert errors of state histories into Python exceptions, each of a class of its own.

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

/// Why a change or a query is refused.
#[derive(Debug)]
pub enum Fault {
    /// A time outside of the history.
    Range(String),
    /// A change that comes after a later one.
    Order(String),
    /// No such attribute.
    Attribute(String),
    /// A value of another type than the attribute's, or an invalid one.
    Value(String),
    /// The history is closed, abandoned, or being closed.
    Closed(String),
    /// The data read differs from the data written.
    Damaged(String),
    Io(std::io::Error),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        Fault::Io(error)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Io(error) => error.fmt(out),
            Fault::Range(text)
            | Fault::Order(text)
            | Fault::Attribute(text)
            | Fault::Value(text)
            | Fault::Closed(text)
            | Fault::Damaged(text) => out.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    fn parts(self) -> Result<(&'static str, String), std::io::Error> {
        Ok(match self {
            Fault::Range(text) => ("TimeOutOfRange", text),
            Fault::Order(text) => ("OutOfOrder", text),
            Fault::Attribute(text) => ("AttributeNotFound", text),
            Fault::Value(text) => ("WrongValue", text),
            Fault::Closed(text) => ("HistoryClosed", text),
            Fault::Damaged(text) => ("HistoryDamaged", text),
            Fault::Io(error) => return Err(error),
        })
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> PyErr {
        let (class, text) = match fault.parts() {
            Ok(parts) => parts,
            Err(error) => return PyOSError::new_err((error.raw_os_error(), error.to_string())),
        };
        Python::attach(|py| {
            let made = py.import("dctv.state.faults").and_then(|module| module.getattr(class)?.call1((&text,)));
            match made {
                Ok(error) => PyErr::from_value(error),
                Err(_) => PyRuntimeError::new_err(text),
            }
        })
    }
}
