//! Write batches to an unnamed temporary file, and read them back.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use super::failure::fail;

static FILES: AtomicU64 = AtomicU64::new(0);

/// The place of a batch in the file: it is an Arrow IPC stream of its own.
#[derive(Clone, Copy)]
pub struct Place {
    offset: u64,
    length: usize,
}

/// A file in a folder, both created at the first write; dropping this removes the file.
pub struct Spill {
    folder: PathBuf,
    file: Mutex<Option<File>>,
    written: AtomicU64,
}

impl Spill {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file: Mutex::new(None), written: AtomicU64::new(0) }
    }

    pub fn bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Append a batch; callers must not write concurrently.
    pub fn write(&self, batch: &RecordBatch) -> Result<Place, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
        writer.write(batch)?;
        let encoded = writer.into_inner()?;
        let offset = self.bytes();
        self.append(&encoded, offset).map_err(|error| {
            let reason = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
                _ => error.to_string().to_lowercase(),
            };
            fail(format!("cannot spill to `{}`: {reason}", self.folder.display()))
        })?;
        self.written.store(offset + encoded.len() as u64, Ordering::Relaxed);
        Ok(Place { offset, length: encoded.len() })
    }

    fn append(&self, encoded: &[u8], offset: u64) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(create(&self.folder)?);
        }
        file.as_ref().map_or(Ok(()), |file| file.write_all_at(encoded, offset))
    }

    /// Read a batch that was written.
    pub fn read(&self, place: Place) -> Result<RecordBatch, ArrowError> {
        let failed =
            |reason: String| fail(format!("cannot read what was spilled to `{}`: {reason}", self.folder.display()));
        let mut encoded = vec![0; place.length];
        {
            let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let file = file.as_ref().ok_or_else(|| failed("nothing was".to_owned()))?;
            file.read_exact_at(&mut encoded, place.offset).map_err(|error| failed(error.to_string()))?;
        }
        let mut batches = StreamReader::try_new(encoded.as_slice(), None)?;
        batches.next().unwrap_or_else(|| Err(failed("it is empty".to_owned())))
    }
}

/// Make a file without a name: it is removed with the process, however that ends.
fn create(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("buffer-{}-{number}.arrow", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
