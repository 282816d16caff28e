//! Read the bytes of a file, from the beginning, through a sliding window.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::input::{Source, Window};
use crate::rows::Failure;

/// A file that is closed at its end, since there is one per thread, and all are read at once.
struct Open {
    file: Option<File>,
    done: Arc<AtomicU64>,
}

impl Source for Open {
    /// Small, since there is a window per thread, too.
    const STEP: usize = 16 << 10;

    fn more(&mut self, out: &mut Vec<u8>, room: usize) -> io::Result<bool> {
        let Some(file) = &mut self.file else {
            return Ok(false);
        };
        let read = file.take(room as u64).read_to_end(out)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        if read < room {
            self.file = None;
        }
        Ok(read == room)
    }
}

/// Bytes of a file that were read and not consumed.
pub struct Feed {
    path: PathBuf,
    window: Window<Open>,
}

impl Feed {
    pub fn new(path: PathBuf, done: Arc<AtomicU64>) -> Feed {
        Feed { path, window: Window::new(Open { file: None, done }) }
    }

    /// Start reading.
    pub fn open(&mut self) -> Result<(), Failure> {
        let opened = File::open(&self.path);
        self.window.source.file = Some(opened.map_err(|error| failure(&self.path, error))?);
        Ok(())
    }

    /// The next bytes, fewer if the file has no more.
    #[inline]
    pub fn view(&mut self, wanted: usize) -> Result<&[u8], Failure> {
        self.window.need(wanted).map_err(|error| failure(&self.path, error))?;
        let rest = self.window.rest();
        Ok(rest.get(..wanted).unwrap_or(rest))
    }

    /// The next bytes, if enough were read already.
    #[inline]
    pub fn head<const N: usize>(&self) -> Option<&[u8; N]> {
        self.window.rest().first_chunk()
    }

    /// Consume bytes that were read already.
    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.window.pass(bytes);
    }

    /// The total number of consumed bytes.
    pub fn taken(&self) -> u64 {
        self.window.offset()
    }
}

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure::Io(path.display().to_string(), error)
}
