//! Write intervals to a file: blocks as they fill up, then the tree and the directory of blocks, then a trailer.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::block::encode;
use super::fault::Fault;
use super::history::History;
use super::track::{BlockAt, Blocks, Track, checksum};

pub const MAGIC: &[u8; 8] = b"dctv.hst";
pub const VERSION: u32 = 2;
/// Bytes at the end: offset, length and checksum of the directory, the version, the type of file.
pub const TRAILER: usize = 32;
/// Intervals of an attribute that fill a block.
const FULL: usize = 1024;
/// Intervals of all attributes in memory before all are written.
const MOST: usize = 4 << 20;
/// Bytes before a write to the file.
const BUFFERED: usize = 1 << 20;

pub struct Writer {
    file: File,
    buffer: Vec<u8>,
    /// The offset of the buffer in the file.
    at: u64,
    waiting: usize,
    /// The identity of the history's source, stored for readers.
    identity: Vec<u8>,
}

impl Writer {
    /// # Errors
    /// The file cannot be created.
    pub fn new(path: &Path, identity: Vec<u8>) -> std::io::Result<(Writer, Blocks)> {
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        let blocks = Blocks::File(file.try_clone()?);
        let writer = Writer { file, buffer: MAGIC.to_vec(), at: 0, waiting: 0, identity };
        Ok((writer, blocks))
    }

    /// Handle an interval added to a track.
    pub fn added(&mut self, tracks: &mut [Track], place: usize) -> Result<(), Fault> {
        self.waiting += 1;
        if self.waiting >= MOST {
            return self.write_all(tracks);
        }
        if tracks[place].tail.len() >= FULL {
            self.write(&mut tracks[place])?;
            if self.buffer.len() >= BUFFERED {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn write_all(&mut self, tracks: &mut [Track]) -> Result<(), Fault> {
        for track in tracks.iter_mut().filter(|track| track.tail.len() > 0) {
            self.write(track)?;
            if self.buffer.len() >= BUFFERED {
                self.flush()?;
            }
        }
        self.flush()
    }

    fn write(&mut self, track: &mut Track) -> Result<(), Fault> {
        let bytes = encode(&track.tail, track.kind);
        let size =
            u32::try_from(bytes.len()).map_err(|_| Fault::Value("states of an attribute are too long".to_owned()))?;
        track.blocks.push(BlockAt {
            first: track.tail.rows[0].start,
            offset: self.at + self.buffer.len() as u64,
            size,
            checksum: checksum(&bytes),
            verified: AtomicBool::new(true),
        });
        self.buffer.extend(bytes);
        self.waiting -= track.tail.len();
        track.tail.clear();
        Ok(())
    }

    /// Write the buffer to the file, so that it can be read.
    pub fn flush(&mut self) -> Result<(), Fault> {
        self.file.write_all_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// A block that is still in the buffer.
    pub fn waiting(&self, block: &BlockAt) -> Option<&[u8]> {
        let begin = usize::try_from(block.offset.checked_sub(self.at)?).ok()?;
        self.buffer.get(begin..begin + block.size as usize)
    }

    pub fn finish(&mut self, history: &mut History) -> Result<(), Fault> {
        self.write_all(&mut history.tracks)?;
        let directory = directory(history, &self.identity);
        let sum = checksum(&directory);
        self.buffer.extend(&directory);
        let offset = self.at;
        self.buffer.extend(offset.to_le_bytes());
        self.buffer.extend((directory.len() as u64).to_le_bytes());
        self.buffer.extend(sum.to_le_bytes());
        self.buffer.extend(VERSION.to_le_bytes());
        self.buffer.extend(MAGIC);
        self.flush()?;
        self.file.flush()?;
        self.file.sync_data()?;
        Ok(())
    }
}

fn directory(history: &History, identity: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let text = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(bytes);
    };
    text(&mut out, identity);
    out.extend(history.start.to_le_bytes());
    out.extend(history.end.unwrap_or(history.now).to_le_bytes());
    out.extend(history.intervals.to_le_bytes());
    let partial = history.partial.as_ref();
    out.extend(partial.map_or(0, |one| one.every()).to_le_bytes());
    let times = partial.map_or(&[][..], |one| &one.times);
    out.extend((times.len() as u32).to_le_bytes());
    out.extend(times.iter().flat_map(|time| time.to_le_bytes()));
    out.extend((history.tree.len() as u32).to_le_bytes());
    for (place, track) in history.tracks.iter().enumerate() {
        out.extend(history.tree.parent(place).to_le_bytes());
        text(&mut out, history.tree.name(place).as_bytes());
        out.push(track.kind as u8 | (track.coarse as u8) << 4);
        out.extend((track.blocks.len() as u32).to_le_bytes());
        for block in &track.blocks {
            out.extend(block.first.to_le_bytes());
            out.extend(block.offset.to_le_bytes());
            out.extend(block.size.to_le_bytes());
            out.extend(block.checksum.to_le_bytes());
        }
    }
    out
}
