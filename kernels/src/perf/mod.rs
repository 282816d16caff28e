//! Decode perf.data files into rows of samples, tracepoints and kernel records about processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::prelude::*;

mod attr;
mod finish;
mod header;
mod maps;
mod metadata;
mod other;
mod queue;
mod sample;
mod samples;
mod session;
mod stream;
pub mod tables;
mod threads;
mod tracing;
mod work;
mod zstd;

use crate::rows::{Decode, Failure, Learnt, Note, Place, RowPass, Sink};
use session::Session;

/// The files of a trace, one after the other.
#[derive(Default)]
struct Decoder {
    paths: std::vec::IntoIter<PathBuf>,
    file: u32,
    current: Option<Session>,
    done: Arc<AtomicU64>,
    notes: Vec<Note>,
    properties: Vec<(String, String)>,
}

impl Decode for Decoder {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        loop {
            let session = match &mut self.current {
                Some(session) => session,
                None => {
                    let Some(path) = self.paths.next() else {
                        return Ok(None);
                    };
                    let opened = Session::open(&path, self.file, Arc::clone(&self.done))?;
                    self.current.insert(opened)
                }
            };
            let begin = session.place();
            let ended = session.run(sink)?;
            let place = Place { file: self.file, begin, end: session.place() };
            if ended && let Some(mut session) = self.current.take() {
                finish::emit_metadata(&mut session.work, sink, &mut self.properties);
                self.notes.extend(session.work.notes.take());
                self.file += 1;
            }
            if sink.len() > 0 {
                return Ok(Some(place));
            }
        }
    }

    fn learnt(&mut self) -> Learnt {
        Learnt { notes: std::mem::take(&mut self.notes), properties: std::mem::take(&mut self.properties) }
    }
}

/// Read perf.data files; see `RowPass`.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn perf_data_pass(paths: Vec<PathBuf>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    RowPass::of_files(paths, threads, progress, |paths, done| Decoder {
        paths: paths.into_iter(),
        done,
        ..Decoder::default()
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(perf_data_pass, m)?)
}
