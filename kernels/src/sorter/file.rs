//! Store blocks of rows in memory, then in one unnamed temporary file, and read them back.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::ArrowError;

static FILES: AtomicU64 = AtomicU64::new(0);

/// Bytes per write.
const WRITE: usize = 1 << 20;

/// The place of a block.
#[derive(Clone, Copy)]
pub enum Place {
    /// Its number among the blocks in memory.
    Kept(usize),
    Written {
        offset: u64,
        length: usize,
    },
}

#[derive(Default)]
struct State {
    /// The first blocks, which are kept in memory and never written.
    kept: Vec<Arc<[u8]>>,
    kept_bytes: usize,
    file: Option<File>,
    /// Bytes to be written next.
    waiting: Vec<u8>,
    written: u64,
}

/// A file in a folder, created when memory is exhausted; it is removed when this is dropped, or the process ends.
pub struct TempFile {
    folder: PathBuf,
    /// Maximum bytes of blocks kept in memory.
    keep: usize,
    state: Mutex<State>,
}

impl TempFile {
    pub fn new(folder: PathBuf, keep: usize) -> Self {
        Self { folder, keep, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &io::Error) -> ArrowError {
        let reason = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
            _ => error.to_string().to_lowercase(),
        };
        let text = format!("cannot spill to `{}`: {reason}", self.folder.display());
        let source = match error.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(error.kind(), text.clone()),
        };
        ArrowError::IoError(text, source)
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.state().written
    }

    /// Bytes in memory.
    pub fn kept(&self) -> usize {
        self.state().kept_bytes
    }

    /// Append a block.
    pub fn write(&self, block: &[u8]) -> Result<Place, ArrowError> {
        let mut state = self.state();
        if block.len() <= self.keep.saturating_sub(state.kept_bytes) {
            state.kept_bytes += block.len();
            state.kept.push(block.into());
            return Ok(Place::Kept(state.kept.len() - 1));
        }
        let offset = state.written.saturating_add(state.waiting.len() as u64);
        state.waiting.extend_from_slice(block);
        if state.waiting.len() >= WRITE {
            self.write_out(&mut state)?;
        }
        let length = block.len();
        Ok(Place::Written { offset, length })
    }

    /// Write waiting bytes; blocks can be read only afterwards.
    pub fn flush(&self) -> Result<(), ArrowError> {
        let mut state = self.state();
        self.write_out(&mut state)?;
        state.waiting = Vec::new();
        Ok(())
    }

    fn write_out(&self, state: &mut State) -> Result<(), ArrowError> {
        if state.waiting.is_empty() {
            return Ok(());
        }
        let file = match state.file.take() {
            Some(file) => file,
            None => create(&self.folder).map_err(|error| self.failed(&error))?,
        };
        let done = file.write_all_at(&state.waiting, state.written);
        state.file = Some(file);
        done.map_err(|error| self.failed(&error))?;
        state.written += state.waiting.len() as u64;
        state.waiting.clear();
        Ok(())
    }

    /// Pass the bytes of a block to a function; `buffer` is for bytes read from disk.
    pub fn read<T>(
        &self,
        place: Place,
        buffer: &mut Vec<u8>,
        take: impl FnOnce(&[u8]) -> Result<T, ArrowError>,
    ) -> Result<T, ArrowError> {
        let lost = || self.failed(&io::Error::other("nothing was written"));
        let state = self.state();
        match place {
            Place::Kept(number) => {
                let block = state.kept.get(number).cloned();
                drop(state);
                take(&block.ok_or_else(lost)?)
            }
            Place::Written { offset, length } => {
                buffer.resize(length, 0);
                let file = state.file.as_ref().ok_or_else(lost)?;
                file.read_exact_at(buffer, offset).map_err(|error| self.failed(&error))?;
                drop(state);
                take(buffer)
            }
        }
    }
}

/// Make a file without a name.
fn create(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("events-{}-{number}.runs", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
