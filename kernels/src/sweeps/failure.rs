//! Convert faults of the data into an Arrow error with a self-contained text, all that crosses the stream interface.

use arrow_schema::ArrowError;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// Prefixes that stream layers add to a message.
const PREFIXES: [&str; 3] = ["C Data interface error: ", "Invalid argument error: ", "External error: "];

/// Make an error of a message, without NUL bytes, which would end the text on the other side.
pub fn fail(message: impl Into<String>) -> ArrowError {
    ArrowError::InvalidArgumentError(message.into().replace('\0', "\\0"))
}

/// Pass an input's error on without the prefixes of the layers.
pub fn upstream(error: &ArrowError) -> ArrowError {
    fail(bare(error))
}

/// Turns an error found while a stream is set up into a Python exception.
pub fn to_python(error: ArrowError) -> PyErr {
    PyValueError::new_err(bare(&error))
}

fn bare(error: &ArrowError) -> String {
    let text = error.to_string();
    let mut rest = text.as_str();
    while let Some(shorter) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = shorter;
    }
    rest.to_owned()
}
