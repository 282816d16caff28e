//! A file's text -> decoded blocks, cut at line ends and decoded side by side.

use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use memchr::{memchr, memrchr};

use super::block::{self, Block};
use super::source;

/// Larger blocks than the longest line, small enough to stay in a core's cache.
const BLOCK: usize = 2 << 20;

/// All that was read of one file.
pub struct FileResult {
    pub blocks: Vec<Block>,
    /// Parts of a page that hold no ftrace text, and such that could not be unpacked.
    pub foreign: u64,
    pub damaged: u64,
    /// Why the file was not read to its end.
    pub broken: Option<String>,
    /// Lines that were longer than a block, which were passed over.
    pub endless: u64,
}

/// Read a file; `tick` gets the bytes read so far and stops everything by an error.
pub fn file<E>(
    path: &Path,
    threads: usize,
    mut tick: impl FnMut(u64) -> Result<(), E>,
) -> Result<Result<FileResult, E>, io::Error> {
    let source = source::open(path)?;
    let mut blocks = Blocks {
        text: source.text,
        carry: Vec::new(),
        ended: false,
        broken: None,
        endless: 0,
    };
    let (send, receive) = sync_channel::<(usize, Vec<u8>)>(threads);
    let receive = Mutex::new(receive);
    let done = Mutex::new(Vec::new());
    let stopped = thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(&receive, &done));
        }
        let mut outcome = Ok(());
        for (index, block) in blocks.by_ref().enumerate() {
            outcome = tick(source.position.load(Ordering::Relaxed));
            if outcome.is_err() || send.send((index, block)).is_err() {
                break;
            }
        }
        drop(send);
        outcome
    });
    if let Err(error) = stopped {
        return Ok(Err(error));
    }
    let mut decoded = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    decoded.sort_unstable_by_key(|(index, _)| *index);
    let cut = source
        .cut
        .then(|| "page is longer than 512 MiB or breaks off".to_owned());
    Ok(Ok(FileResult {
        blocks: decoded.into_iter().map(|(_, block)| block).collect(),
        foreign: source.foreign,
        damaged: source.damaged,
        broken: blocks.broken.or(cut),
        endless: blocks.endless,
    }))
}

fn work(receive: &Mutex<Receiver<(usize, Vec<u8>)>>, done: &Mutex<Vec<(usize, Block)>>) {
    loop {
        let next = receive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok((index, text)) = next else {
            return;
        };
        let block = block::decode(&text);
        done.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((index, block));
    }
}

/// Cuts a text into blocks of whole lines.
struct Blocks {
    text: Box<dyn Read + Send>,
    carry: Vec<u8>,
    ended: bool,
    broken: Option<String>,
    endless: u64,
}

impl Blocks {
    /// Add up to a block's worth to `block`; at the end of the text, or where it breaks, nothing more comes.
    fn fill(&mut self, block: &mut Vec<u8>) {
        let room = BLOCK.saturating_sub(block.len()).max(1 << 16);
        block.reserve(room);
        match self.text.by_ref().take(room as u64).read_to_end(block) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) => {
                self.ended = true;
                self.broken = Some(error.to_string());
            }
        }
    }

    /// Pass over the rest of a line and return what follows it.
    fn after_line(&mut self) -> Vec<u8> {
        self.endless += 1;
        loop {
            let mut piece = Vec::new();
            self.fill(&mut piece);
            if let Some(end) = memchr(b'\n', &piece) {
                return piece.split_off(end + 1);
            }
            if self.ended {
                return Vec::new();
            }
        }
    }
}

impl Iterator for Blocks {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut block = std::mem::take(&mut self.carry);
        while !self.ended {
            self.fill(&mut block);
            if block.len() < BLOCK && !self.ended {
                continue;
            }
            match memrchr(b'\n', &block) {
                Some(end) if !self.ended => {
                    self.carry = block.split_off(end + 1);
                    return Some(block);
                }
                // A line that was cut by a damaged stream would give wrong values.
                Some(end) if self.broken.is_some() => block.truncate(end + 1),
                None if self.broken.is_some() => block.clear(),
                None if block.len() >= BLOCK => block = self.after_line(),
                _ => {}
            }
        }
        Some(block).filter(|b| !b.is_empty())
    }
}
