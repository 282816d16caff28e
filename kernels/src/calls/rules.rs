//! The filters of a Python object -> numbers and flags: for the whole trace, and for each function.

use pyo3::prelude::*;

/// What holds whatever function is called, and the rules for functions.
#[derive(FromPyObject)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// What names of functions are.
    #[pyo3(attribute("match"))]
    pub kind: String,
    /// Levels that are shown below a function that is filtered in.
    pub depth: i64,
    /// Calls that are shorter are left out, in ns.
    pub time: i64,
    /// Calls of smaller functions are left out, in bytes.
    pub size: i64,
    /// What was before or after is not read.
    pub start: Option<i64>,
    pub stop: Option<i64>,
    /// Only what a function was filtered in for is shown.
    pub opt_in: bool,
    /// Only functions of some files are shown.
    pub located: bool,
    /// Only calls that lead to a marked one are shown.
    pub callers: bool,
    /// Whether the trace is on at its begin.
    pub enabled: bool,
    /// Whether a function turns the trace on or off, or ends it.
    pub toggles: bool,
}

impl Rules {
    /// Whether a time is within the range.
    #[inline]
    pub fn covers(&self, time: i64) -> bool {
        self.start.is_none_or(|start| time >= start) && self.stop.is_none_or(|stop| time <= stop)
    }
}

/// What the filters say of one function.
#[derive(Clone, Default, PartialEq, FromPyObject)]
pub struct Trigger {
    /// Some(true) lets it in, Some(false) leaves it out, both with all that it calls.
    pub filter: Option<bool>,
    /// Likewise by its source file, without what it calls.
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
    /// Every n-th call that would be shown is.
    pub sample: Option<i64>,
    /// The calls that it is in are printed.
    pub backtrace: bool,
    /// Number of an argument (from 1), comparison, operand.
    pub condition: Option<(usize, String, i64)>,
    /// How its name is coloured.
    pub color: Option<String>,
}

impl Trigger {
    /// Takes over what another one says.
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

/// The functions that a word names, and what it says of them.
#[derive(Clone, FromPyObject)]
pub struct Rule {
    pub name: String,
    pub module: Option<String>,
    pub by_file: bool,
    pub trigger: Trigger,
}
