//! Options from Python for the format of printed lines.

use pyo3::prelude::*;

use super::rules::Rule;

/// The format of lines.
#[derive(FromPyObject)]
pub struct Style {
    pub fields: Vec<String>,
    pub args: bool,
    pub comments: bool,
    pub flat: bool,
    pub task_newline: bool,
    pub colored: bool,
    /// Levels between the columns of threads.
    pub offset: i32,
    /// Whether a call without callees or events takes one line.
    pub merge: bool,
    /// Colour rules, and the type of their patterns.
    pub rules: Vec<Rule>,
    #[pyo3(attribute("match"))]
    pub kind: String,
    /// The time of the trace's start in its own clock.
    pub start: i64,
    /// The origin of elapsed times, after the trace's start.
    pub first: i64,
}
