//! Files, plain or gzip -> blocks of whole lines, and chunks of them that can be read again one by one.

mod input;
mod python;
mod resume;
mod source;

pub use input::{Input, Step};
pub use python::register;
pub use source::BlockSource;

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

/// How large blocks and chunks are, and how long a line may be.
#[derive(Clone, Copy)]
pub struct Limits {
    pub block: usize,
    /// Longer lines are passed over.
    pub line: usize,
    /// Text that a chunk has at least, if its file has so much.
    pub chunk: u64,
    /// How lines begin that stay in one block with the line before; none where it is empty.
    pub joined: &'static [u8],
}

/// Where a chunk is; `dctv.contracts.chunks.Checkpoint` says what the fields mean.
#[derive(Clone, Debug)]
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
    /// A line longer than the limit stood before `text`: its first bytes; the rest of it was skipped.
    pub skipped: Option<Vec<u8>>,
    /// Number of the chunk in its file.
    pub chunk: u32,
    /// Number of the first line, also if it was skipped, in the file.
    pub first_line: u64,
    /// Lines, also a skipped one.
    pub lines: u64,
    /// The chunk that ends with this block.
    pub end: Option<Checkpoint>,
    /// No more blocks follow. The last block of a file without text ends no chunk.
    pub last: bool,
}
