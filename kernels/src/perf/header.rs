//! Parse the header of a perf.data file into its events, its feature sections and the place of its records.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::attr::{Attr, Events};
use super::metadata::{self, Metadata};
use crate::input::bytes::Bytes;
use crate::input::{Input, Window};
use crate::rows::{Failure, Notes};

/// Maximum bytes of metadata, and of the data before the records.
const METADATA: u64 = 64 << 20;
const HEAD: u64 = 16 << 20;
/// Maximum size of the header, and number of events.
const HEADER: usize = 104;
const EVENTS: usize = 1 << 16;
/// The size of the header of a trace that was written to a pipe.
const PIPE_HEADER: u64 = 16;

/// A file with random access.
pub struct Opened {
    path: PathBuf,
    packed: bool,
    done: Arc<AtomicU64>,
}

/// The data read before the first record.
pub struct Head {
    pub big: bool,
    pub events: Events,
    pub metadata: Metadata,
    /// The start of the records, and their size in bytes; everything if the file does not give it.
    pub start: u64,
    pub size: Option<u64>,
}

impl Opened {
    pub fn new(path: &Path, done: Arc<AtomicU64>) -> io::Result<Opened> {
        let packed = Input::open(path, Arc::default())?.packed();
        Ok(Opened { path: path.to_owned(), packed, done })
    }

    /// The bytes from a place on; those of the records count as progress.
    pub fn from(&self, place: u64, counts: bool) -> io::Result<Window<Input>> {
        let done = if counts { Arc::clone(&self.done) } else { Arc::default() };
        if !self.packed {
            return Ok(Window::new(Input::part(&self.path, (place, u64::MAX), false, done)?));
        }
        let mut text = Window::new(Input::open(&self.path, done)?);
        io::copy(&mut text.by_ref().take(place), &mut io::sink())?;
        Ok(text)
    }
}

/// The place of a section.
#[derive(Clone, Copy, Default)]
struct Section {
    offset: u64,
    size: u64,
}

impl Section {
    fn read(at: &mut Bytes<'_>) -> Option<Section> {
        Some(Section { offset: at.u64()?, size: at.u64()? })
    }
}

/// Whether bytes have the opposite order of this machine's; None if they are not perf.data.
fn byte_order(magic: &[u8]) -> Option<bool> {
    match magic.get(..8)? {
        b"PERFILE2" => Some(false),
        b"2ELIFREP" => Some(true),
        _ => None,
    }
}

/// Read the header of a file.
///
/// # Errors
/// The file cannot be read, or is not perf.data.
pub fn read(opened: &Opened, notes: &mut Notes) -> Result<Head, Failure> {
    let path = opened.path.display().to_string();
    let bad = |what: &str| Failure::Bad(format!("cannot read `{path}`: {what}"));
    let io = |error| Failure::Io(path.clone(), error);
    let mut head = Vec::new();
    opened.from(0, false).map_err(io)?.take(HEADER as u64).read_to_end(&mut head).map_err(io)?;
    if head.starts_with(b"PERFFILE") {
        return Err(bad("it is a perf.data of before 2010, expected `PERFILE2`"));
    }
    let big = byte_order(&head).ok_or_else(|| bad("it is no perf.data, expected `PERFILE2`"))?;
    let mut at = Bytes::new(&head, big);
    let size = at.skip(8).and_then(|()| at.u64());
    let size = size.ok_or_else(|| bad("it ends within its header"))?;
    let mut found =
        Head { big, events: Events::default(), metadata: Metadata::default(), start: PIPE_HEADER, size: None };
    if size == PIPE_HEADER {
        found.metadata.mode = "pipe";
        return Ok(found);
    }
    let sections = sections(at).ok_or_else(|| bad("it ends within its header"))?;
    sections_of(opened, &head, sections, &mut found, notes).map_err(io)?;
    Ok(found)
}

struct Sections {
    attr_size: u64,
    attrs: Section,
    data: Section,
    types: Section,
    features: [u64; 4],
}

fn sections(mut at: Bytes<'_>) -> Option<Sections> {
    let mut found = Sections {
        attr_size: at.u64()?,
        attrs: Section::read(&mut at)?,
        data: Section::read(&mut at)?,
        types: Section::read(&mut at)?,
        features: [0; 4],
    };
    for word in &mut found.features {
        *word = at.u64()?;
    }
    Some(found)
}

fn sections_of(
    opened: &Opened,
    head: &[u8],
    sections: Sections,
    found: &mut Head,
    notes: &mut Notes,
) -> io::Result<()> {
    let data = sections.data;
    found.metadata.mode = "file";
    found.start = data.offset.max(head.len() as u64);
    let mut before = Vec::new();
    let length = found.start.min(HEAD);
    opened.from(0, false)?.take(length).read_to_end(&mut before)?;
    let store = Store { opened, before: &before, after: &[], split: u64::MAX };
    attrs(&store, &sections, found, notes)?;
    let types = store.get(sections.types)?;
    metadata::event_types(Bytes::new(&types, found.big), &mut found.metadata);
    if data.size == 0 {
        notes.cut("size of the records is not told, read to the file's end");
        return Ok(());
    }
    found.size = Some(data.size);
    let split = data.offset.saturating_add(data.size);
    let mut after = Vec::new();
    opened.from(split, false)?.take(METADATA).read_to_end(&mut after)?;
    let store = Store { opened, before: &before, after: &after, split };
    features(&store, sections.features, found, notes)
}

/// The parts of a file that are in memory.
struct Store<'a> {
    opened: &'a Opened,
    before: &'a [u8],
    after: &'a [u8],
    /// The place of `after`.
    split: u64,
}

impl Store<'_> {
    /// A section's bytes, as many as available.
    fn get(&self, section: Section) -> io::Result<Vec<u8>> {
        let size = section.size.min(METADATA);
        let inside = |held: &[u8], base: u64| {
            let start = usize::try_from(section.offset.checked_sub(base)?).ok()?;
            let end = start.checked_add(usize::try_from(size).ok()?)?;
            Some(held.get(start..end)?.to_vec())
        };
        let held = inside(self.before, 0).or_else(|| inside(self.after, self.split));
        if let Some(held) = held {
            return Ok(held);
        }
        let mut bytes = Vec::new();
        let file = self.opened.from(section.offset, false)?;
        file.take(size).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn attrs(store: &Store<'_>, sections: &Sections, found: &mut Head, notes: &mut Notes) -> io::Result<()> {
    let width = usize::try_from(sections.attr_size).unwrap_or(0);
    let bytes = store.get(sections.attrs)?;
    if width < 64 + 16 || (bytes.len() as u64) < sections.attrs.size {
        notes.cut("list of events is damaged");
    }
    for one in bytes.chunks_exact(width.max(80)).take(EVENTS) {
        let (attr, ids) = one.split_at(one.len() - 16);
        let Some((attr, _)) = Attr::read(Bytes::new(attr, found.big)) else {
            notes.cut("list of events is damaged");
            continue;
        };
        let ids = Section::read(&mut Bytes::new(ids, found.big)).unwrap_or_default();
        let ids = store.get(ids)?;
        let mut at = Bytes::new(&ids, found.big);
        found.events.add(attr, std::iter::from_fn(|| at.u64()));
    }
    Ok(())
}

fn features(store: &Store<'_>, bits: [u64; 4], found: &mut Head, notes: &mut Notes) -> io::Result<()> {
    let mut at = Bytes::new(store.after, found.big);
    for feature in 0..256u32 {
        let word = bits.get((feature / 64) as usize).copied().unwrap_or(0);
        if word >> (feature % 64) & 1 == 0 {
            continue;
        }
        let Some(section) = Section::read(&mut at) else {
            notes.cut("feature sections are cut off");
            return Ok(());
        };
        let bytes = store.get(section)?;
        if (bytes.len() as u64) < section.size {
            notes.cut("feature sections are cut off");
        }
        metadata::feature(feature, Bytes::new(&bytes, found.big), &mut found.metadata, &mut found.events);
    }
    Ok(())
}
