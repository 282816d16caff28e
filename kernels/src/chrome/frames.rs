//! Convert `stackFrames`, the frames of samples by id, into the table `stack_frames`, each frame with its whole stack.

use rustc_hash::FxHashMap;

use super::texts::{plain, unquoted};
use crate::json::{Invalid, members};
use crate::rows::{Notes, Sink, TableSpec, Type};

/// Maximum frames of a stack, and bytes of all stacks together, that are written in full.
const DEEPEST: usize = 1024;
const MOST: usize = 64 << 20;

#[derive(Default)]
struct Frame {
    id: Vec<u8>,
    name: Vec<u8>,
    category: Option<Vec<u8>>,
    parent: Option<Vec<u8>>,
}

/// Reads and writes frames.
pub struct Frames;

impl Frames {
    /// Write the rows of all frames.
    pub fn read(value: &[u8], notes: &mut Notes, sink: &mut Sink) {
        let mut frames = Vec::new();
        if all(value, &mut frames).is_err() {
            notes.count("stack frames are not wholly JSON", true, value);
        }
        let mut places: FxHashMap<&[u8], usize> = FxHashMap::default();
        for (at, frame) in frames.iter().enumerate() {
            places.entry(frame.id.as_slice()).or_insert(at);
        }
        let table = sink.table("stack_frames", spec);
        let mut spelt = 0;
        for frame in &frames {
            let stack = stack(frame, &frames, &places, MOST.saturating_sub(spelt));
            let rows = sink.rows(table);
            rows.text(0, &frame.id);
            rows.text(1, &frame.name);
            for (column, value) in [(2, &frame.category), (3, &frame.parent)] {
                if let Some(value) = value {
                    rows.text(column, value);
                }
            }
            match stack {
                Some(stack) => {
                    spelt += stack.len();
                    rows.text(4, &stack);
                }
                None => notes.count("stack is too deep, not spelt out", false, &frame.name),
            }
            rows.int(5, i64::from(notes.file));
            sink.end(table);
        }
    }
}

fn spec() -> TableSpec {
    let [id, name, category, parent, stack] =
        ["id", "name", "category", "parent", "stack"].map(|name| (name, Type::Text));
    TableSpec::plain("stack_frames", &[id, name, category, parent, stack, ("file", Type::Int)])
}

/// The names of a frame and all above it, the root first; None if there are too many.
fn stack(frame: &Frame, frames: &[Frame], places: &FxHashMap<&[u8], usize>, room: usize) -> Option<Vec<u8>> {
    let mut names: Vec<&[u8]> = vec![&frame.name];
    let mut size = frame.name.len();
    let mut here = frame;
    while let Some(parent) = here.parent.as_deref().and_then(|id| places.get(id)) {
        here = frames.get(*parent)?;
        names.push(&here.name);
        size += here.name.len() + 1;
        if names.len() > DEEPEST || size > room {
            return None;
        }
    }
    names.reverse();
    Some(names.join(&b';'))
}

fn all(value: &[u8], frames: &mut Vec<Frame>) -> Result<(), Invalid> {
    members(value, |key, _, raw| {
        let mut frame = one(raw)?;
        frame.id = unquoted(key, value).into_owned();
        frames.push(frame);
        Ok(())
    })
}

fn one(raw: &[u8]) -> Result<Frame, Invalid> {
    let mut frame = Frame::default();
    members(raw, |key, token, value| {
        let text = plain(token, value, raw).map(|text| text.into_owned());
        match key.span.of(raw) {
            b"name" => frame.name = text.unwrap_or_default(),
            b"category" => frame.category = text,
            b"parent" => frame.parent = text,
            _ => (),
        }
        Ok(())
    })?;
    Ok(frame)
}
