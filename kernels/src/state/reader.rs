//! Open a file of intervals as a history, if it is intact.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_buffer::Buffer;

use super::cell::Kind;
use super::fault::Fault;
use super::history::{History, Store};
use super::mipmap::Coarse;
use super::partial::Checkpoints;
use super::track::{BlockAt, Blocks, Track, checksum};
use super::tree::Tree;
use super::writer::{MAGIC, TRAILER, VERSION};
use crate::input::bytes::Bytes;

/// Minimum bytes of an attribute and of a block in the directory.
const ATTRIBUTE: usize = 13;
const BLOCK: usize = 24;

fn damaged(what: &str) -> Fault {
    Fault::Damaged(format!("the history is damaged: {what}"))
}

fn cut() -> Fault {
    damaged("its directory is cut off")
}

/// Reads numbers and texts from the front of bytes.
struct Cursor<'a>(Bytes<'a>);

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor(Bytes::new(bytes, false))
    }

    fn four(&mut self) -> Result<u32, Fault> {
        self.0.u32().ok_or_else(cut)
    }

    fn eight(&mut self) -> Result<u64, Fault> {
        self.0.u64().ok_or_else(cut)
    }

    fn time(&mut self) -> Result<i64, Fault> {
        self.0.i64().ok_or_else(cut)
    }

    /// A count of elements that take at least `each` bytes.
    fn count(&mut self, each: usize) -> Result<usize, Fault> {
        let count = self.four()? as usize;
        if count.checked_mul(each).is_none_or(|bytes| bytes > self.0.len()) {
            return Err(damaged("its directory counts more than there is"));
        }
        Ok(count)
    }

    fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let size = self.count(1)?;
        self.0.take(size).ok_or_else(cut)
    }
}

/// Open a history; returned with its identity.
///
/// # Errors
/// The bytes are not a history, or damaged.
pub fn open(bytes: Buffer) -> Result<(History, Vec<u8>), Fault> {
    let size = bytes.len();
    if size < MAGIC.len() + TRAILER || !bytes.starts_with(MAGIC) {
        return Err(damaged("it is no history, or was not written to its end"));
    }
    let mut trailer = Cursor::new(&bytes[size - TRAILER..]);
    let (offset, length) = (trailer.eight()?, trailer.eight()?);
    let (sum, version) = (trailer.four()?, trailer.four()?);
    if trailer.0.rest() != MAGIC {
        return Err(damaged("it was not written to its end"));
    }
    if version != VERSION {
        let text = format!("the history is of version {version}, expected {VERSION}");
        return Err(Fault::Damaged(text));
    }
    let end = size - TRAILER;
    let begin = usize::try_from(offset)
        .ok()
        .filter(|begin| begin.checked_add(usize::try_from(length).unwrap_or(usize::MAX)) == Some(end));
    let begin = begin.ok_or_else(|| damaged("its directory is not there"))?;
    if checksum(&bytes[begin..end]) != sum {
        return Err(damaged("the checksum of its directory is wrong"));
    }
    let (mut history, identity) = directory(&mut Cursor::new(&bytes[begin..end]))?;
    history.blocks = Blocks::Mapped(bytes);
    Ok((history, identity))
}

fn directory(cursor: &mut Cursor<'_>) -> Result<(History, Vec<u8>), Fault> {
    let identity = cursor.bytes()?.to_vec();
    let mut history = History::new(cursor.time()?, Store::Closed);
    history.now = cursor.time()?;
    history.end = Some(history.now);
    history.intervals = cursor.eight()?;
    let every = cursor.eight()?;
    let count = cursor.count(8)?;
    let times = (0..count).map(|_| cursor.time());
    let times = times.collect::<Result<Vec<_>, _>>()?;
    history.partial = (every > 0).then(|| Checkpoints::read(every, times));
    let attributes = cursor.count(ATTRIBUTE)?;
    let mut tree = Tree::default();
    for place in 0..attributes {
        let parent = cursor.four()?.cast_signed();
        let name = std::str::from_utf8(cursor.bytes()?).map_err(|_| damaged("a name is no text"))?;
        let above = i64::from(parent) < place as i64 && parent >= -1;
        if !above || tree.add(parent, name)? as usize != place {
            return Err(damaged("an attribute is in its own tree"));
        }
        let sort = cursor.0.u8().ok_or_else(cut)?;
        let coarse = Coarse::of(sort >> 4).ok_or_else(|| damaged("unknown coarser states"))?;
        let kind = Kind::of(sort & 15).ok_or_else(|| damaged("an unknown kind of values"))?;
        let count = cursor.count(BLOCK)?;
        let blocks = (0..count).map(|_| {
            Ok(BlockAt {
                first: cursor.time()?,
                offset: cursor.eight()?,
                size: cursor.four()?,
                checksum: cursor.four()?,
                verified: AtomicBool::new(false),
            })
        });
        let blocks = blocks.collect::<Result<Vec<_>, Fault>>()?;
        history.tracks.push(Track { kind, coarse, blocks, ..Track::default() });
    }
    history.tree = Arc::new(tree);
    Ok((history, identity))
}
