//! Read the filters of a Python object into numbers and flags: for the whole trace, and for each function.

use pyo3::prelude::*;

/// Settings for all functions, and the rules for single ones.
#[derive(FromPyObject)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// The type of patterns in names of functions.
    #[pyo3(attribute("match"))]
    pub kind: String,
    /// Number of levels shown below an included function.
    pub depth: i64,
    /// Shorter calls are excluded, in ns.
    pub time: i64,
    /// Calls of smaller functions are excluded, in bytes.
    pub size: i64,
    /// Calls before or after are not read.
    pub start: Option<i64>,
    pub stop: Option<i64>,
    /// Only included functions and their callees are shown.
    pub opt_in: bool,
    /// Only functions of some files are shown.
    pub located: bool,
    /// Only calls that lead to a marked one are shown.
    pub callers: bool,
    /// Whether the trace is on at its start.
    pub enabled: bool,
    /// Whether a rule turns the trace on or off, or ends it.
    pub toggles: bool,
}

impl Rules {
    /// Whether a time is within the range.
    #[inline]
    pub fn covers(&self, time: i64) -> bool {
        self.start.is_none_or(|start| time >= start) && self.stop.is_none_or(|stop| time <= stop)
    }
}

/// The filters' effect on one function.
#[derive(Clone, Default, PartialEq, FromPyObject)]
pub struct Trigger {
    /// Some(true) includes it, Some(false) excludes it, both with all its callees.
    pub filter: Option<bool>,
    /// Likewise by its source file, without its callees.
    pub location: Option<bool>,
    pub depth: Option<i64>,
    pub time: Option<i64>,
    pub size: Option<i64>,
    pub hide: bool,
    pub caller: bool,
    pub trace: bool,
    pub on: bool,
    pub off: bool,
    pub finish: bool,
    /// Shows only every n-th of the calls that would be shown.
    pub sample: Option<i64>,
    /// Its callers are printed.
    pub backtrace: bool,
    /// Number of an argument (from 1), comparison, operand.
    pub condition: Option<(usize, String, i64)>,
    /// The colour of its name.
    pub color: Option<String>,
}

impl Trigger {
    /// Merge another trigger into this one, which it overrides.
    pub fn update(&mut self, other: &Self) {
        self.filter = other.filter.or(self.filter);
        self.location = other.location.or(self.location);
        self.depth = other.depth.or(self.depth);
        self.time = other.time.or(self.time);
        self.size = other.size.or(self.size);
        self.sample = other.sample.or(self.sample);
        self.hide |= other.hide;
        self.caller |= other.caller;
        self.trace |= other.trace;
        self.on |= other.on;
        self.off |= other.off;
        self.finish |= other.finish;
        self.backtrace |= other.backtrace;
        if other.condition.is_some() {
            self.condition.clone_from(&other.condition);
        }
        if other.color.is_some() {
            self.color.clone_from(&other.color);
        }
    }
}

/// The functions matched by a word, and its effect on them.
#[derive(Clone, FromPyObject)]
pub struct Rule {
    pub name: String,
    pub module: Option<String>,
    pub by_file: bool,
    pub trigger: Trigger,
}
