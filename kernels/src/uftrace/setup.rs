//! The contents of the small files of a directory, from Python.

use std::path::PathBuf;

use pyo3::prelude::*;

/// A file of records: its type, its number among the files of the trace, its path, its thread or CPU.
pub type SourceRow = (String, u32, PathBuf, i64);
/// Start, end, module.
pub type MapRow = (u64, u64, usize);
/// Time, base, module.
pub type LibraryRow = (i64, u64, usize);
/// Module, file and line, by address.
pub type LineRow = (usize, u64, String, i64);
/// Module, address, values.
pub type LayoutRow = (usize, u64, Vec<ValueRow>);
/// Module or -1, name, names of values from the highest value on.
pub type EnumRow = (i64, String, Vec<(String, i64)>);
/// File, reason, count, example, whether the trace was not read whole.
pub type NoteRow = (u32, String, u64, String, bool);

#[derive(FromPyObject)]
pub struct TaskRow {
    pub tid: i64,
    pub pid: i64,
    pub ppid: Option<i64>,
    pub start: i64,
}

#[derive(FromPyObject)]
pub struct SessionRow {
    pub start: i64,
    pub pid: i64,
    pub sid: String,
    pub exename: String,
    pub maps: Vec<MapRow>,
    pub libraries: Vec<LibraryRow>,
}

/// Address, size, kind, name.
pub type SymbolRow = (u64, u64, char, String);

#[derive(FromPyObject)]
pub struct ValueRow {
    pub index: i64,
    pub kind: char,
    pub size: usize,
    #[pyo3(attribute("type"))]
    pub type_name: String,
}

#[derive(FromPyObject)]
pub struct Setup {
    pub big_endian: bool,
    pub wide: bool,
    /// Whether addresses of symbols count from the beginning of their module.
    pub relative: bool,
    pub bytes: u64,
    pub sources: Vec<SourceRow>,
    pub tasks: Vec<TaskRow>,
    pub sessions: Vec<SessionRow>,
    /// Threads, and the sessions they belong to from which time on.
    pub sessions_of: Vec<(i64, Vec<(i64, usize)>)>,
    /// Path and symbols.
    pub modules: Vec<(String, Vec<SymbolRow>)>,
    pub lines: Vec<LineRow>,
    pub layouts: Vec<LayoutRow>,
    pub enums: Vec<EnumRow>,
    pub events: Vec<(u64, String)>,
    pub notes: Vec<NoteRow>,
    pub properties: Vec<(String, String)>,
    /// Unix time minus the time of the records.
    pub utc_offset_ns: Option<i64>,
}
