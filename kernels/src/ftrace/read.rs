//! A file's text -> decoded blocks, cut at line ends and decoded side by side.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::block::{Block, Hints};
use super::texts::{Piece, Texts};

/// All that was read of one file.
pub struct FileResult {
    pub blocks: Vec<Block>,
    /// Parts of a page that hold no ftrace text, and such that could not be unpacked.
    pub foreign: u64,
    pub damaged: u64,
    /// Why the file was not read to its end.
    pub broken: Option<String>,
    /// Lines of a page that were longer than a block, which were passed over.
    pub endless: u64,
    /// Whether the text ends in the middle of a line.
    pub open: bool,
}

/// Read a file; `tick` gets the bytes read so far and stops everything by an error.
pub fn file<E>(
    path: &Path,
    threads: usize,
    mut tick: impl FnMut(u64) -> Result<(), E>,
) -> Result<Result<FileResult, E>, io::Error> {
    let mut texts = Texts::open(path, 0, u64::MAX, Arc::default())?;
    let hints = Arc::new(Hints::default());
    let (send, receive) = sync_channel::<(usize, Piece)>(threads);
    let receive = Mutex::new(receive);
    let done = Mutex::new(Vec::new());
    let stopped = thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(&receive, &done, &hints));
        }
        let mut outcome = Ok(Ok(()));
        for index in 0.. {
            let piece = match texts.next(Vec::new()) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            let told = tick(texts.position());
            let stop = told.is_err();
            outcome = Ok(told);
            if stop || send.send((index, piece)).is_err() {
                break;
            }
        }
        drop(send);
        outcome
    })?;
    if let Err(error) = stopped {
        return Ok(Err(error));
    }
    let mut decoded = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    decoded.sort_unstable_by_key(|(index, _)| *index);
    Ok(Ok(FileResult {
        blocks: decoded.into_iter().map(|(_, block)| block).collect(),
        foreign: texts.foreign(),
        damaged: texts.damaged(),
        broken: texts.broken(),
        endless: texts.endless(),
        open: texts.open_ended(),
    }))
}

fn work(receive: &Mutex<Receiver<(usize, Piece)>>, done: &Mutex<Vec<(usize, Block)>>, hints: &Arc<Hints>) {
    loop {
        let next = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, piece)) = next else {
            return;
        };
        let block = piece.decode(hints);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((index, block));
    }
}
