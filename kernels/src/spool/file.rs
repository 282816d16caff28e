//! Blocks of rows -> one file that nobody else sees, and back.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_schema::ArrowError;

static FILES: AtomicU64 = AtomicU64::new(0);

/// Bytes that are written at once.
const WRITE: usize = 1 << 20;

/// Where in the file a block is.
#[derive(Clone, Copy)]
pub struct Place {
    pub offset: u64,
    pub length: u32,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    /// What is to be written next.
    waiting: Vec<u8>,
    written: u64,
}

/// A file in a folder, made when something is first written; it is gone when this is dropped, or the process ends.
pub struct TempFile {
    folder: PathBuf,
    state: Mutex<State>,
}

impl TempFile {
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &io::Error) -> ArrowError {
        let reason = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "the disk is full".to_owned()
            }
            _ => error.to_string().to_lowercase(),
        };
        let text = format!("cannot spill to `{}`: {reason}", self.folder.display());
        let source = match error.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(error.kind(), text.clone()),
        };
        ArrowError::IoError(text, source)
    }

    pub fn bytes(&self) -> u64 {
        self.state().written
    }

    /// Appends a block.
    pub fn write(&self, block: &[u8]) -> Result<Place, ArrowError> {
        let mut state = self.state();
        let offset = state.written.saturating_add(state.waiting.len() as u64);
        state.waiting.extend_from_slice(block);
        if state.waiting.len() >= WRITE {
            self.write_out(&mut state)?;
        }
        let length = u32::try_from(block.len())
            .map_err(|_| ArrowError::InvalidArgumentError("a row is larger than 4 GiB".into()))?;
        Ok(Place { offset, length })
    }

    /// Writes what waits; blocks can be read only then.
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

    /// Reads a block that was written.
    pub fn read(&self, place: Place, buffer: &mut Vec<u8>) -> Result<(), ArrowError> {
        let state = self.state();
        buffer.resize(place.length as usize, 0);
        let Some(file) = state.file.as_ref() else {
            return Err(self.failed(&io::Error::other("nothing was written")));
        };
        file.read_exact_at(buffer, place.offset)
            .map_err(|error| self.failed(&error))
    }
}

/// Makes a file that has no name any more.
fn create(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("events-{}-{number}.spool", std::process::id()));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
