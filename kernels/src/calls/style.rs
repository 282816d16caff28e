//! What a person asked of lines -> flags that printers read.

use pyo3::prelude::*;

use super::rules::Rule;

/// How lines look.
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
    /// Whether a call without anything in it has one line.
    pub merge: bool,
    /// Which functions have colours, and what names are.
    pub rules: Vec<Rule>,
    #[pyo3(attribute("match"))]
    pub kind: String,
    /// The time of the trace's begin in its own clock.
    pub start: i64,
    /// What elapsed times count from, after the trace's begin.
    pub first: i64,
}
