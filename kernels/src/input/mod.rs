//! Read files and compressed bytes into memory for all decoders: windows, blocks of lines, numbers, and damage.
//!
//! Some readers stay with their formats. Protobuf (`perfetto::wire`) and CTF (`ctf::bits`) count in varints and in bits,
//! and CTF tells damage from a part that is too short. `ctf::window` opens its file for each read, since a trace may have
//! more streams than a process may have open files. The header of a `trace.dat` (`tracedat::input`) does not tell its
//! size, so a cursor reads it from the file. Words for damage and limits of sizes are those of each format.

mod blocks;
pub mod bytes;
mod file;
mod python;
mod resume;
pub mod unpack;
mod window;

use std::error::Error;
use std::fmt;

use pyo3::prelude::*;

pub use blocks::BlockSource;
pub use file::Input;
pub use python::register;
pub use window::{Source, Window, read_part};

/// Why a file could not be read to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The gzip stream ends early.
    Truncated,
    /// The gzip stream is damaged.
    Corrupt,
    /// Something that is not gzip follows a gzip member.
    Trailing,
}

/// The error of a stream that is read with [`std::io::Read`].
impl Error for Damage {}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Damage::Truncated => "incomplete deflate stream",
            Damage::Corrupt => "corrupt deflate stream",
            Damage::Trailing => "invalid gzip header",
        })
    }
}

/// Sizes of blocks and chunks, and the maximum length of a line.
#[derive(Clone, Copy)]
pub struct Limits {
    pub block: usize,
    /// Longer lines are skipped.
    pub line: usize,
    /// Minimum text of a chunk, if its file has as much.
    pub chunk: u64,
    /// Prefix of lines that stay in one block with the line before; none if it is empty.
    pub joined: &'static [u8],
}

/// The place of a chunk; `dctv.contracts.chunks.Checkpoint` documents the fields.
#[derive(Clone, Debug, Default, FromPyObject)]
pub struct Checkpoint {
    pub file: u32,
    pub number: u32,
    pub uc_offset: u64,
    pub uc_size: u64,
    pub c_offset: u64,
    pub c_size: u64,
    pub bits: u8,
    pub window: Option<Vec<u8>>,
    pub skip: u64,
    pub first_line: u64,
    pub lines: u64,
    pub packed: bool,
}

/// A run of whole lines of one chunk.
pub struct Block {
    /// Whole lines; the last one may lack its line end, at the end of the file.
    pub text: Vec<u8>,
    /// The first bytes of a skipped line before `text`, which was longer than the limit.
    pub skipped: Option<Vec<u8>>,
    /// Number of the chunk in its file.
    pub chunk: u32,
    /// Number of the first line in the file, including a skipped one.
    pub first_line: u64,
    /// Number of lines, including a skipped one.
    pub lines: u64,
    /// The chunk that ends with this block.
    pub end: Option<Checkpoint>,
    /// No more blocks follow. The last block of a file without text ends no chunk.
    pub last: bool,
}
