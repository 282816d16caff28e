//! Build nodes for the walker from the program that `dctv.readers.ctf_metadata.layout` compiles from metadata.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A node in Python: its type, numbers, the numbers of its parts, names.
pub type NodeSpec = (String, Vec<u64>, Vec<usize>, Vec<String>);

/// Means no node, column, slot or length, in Python and here.
pub const NONE: usize = usize::MAX;

pub mod role {
    pub const MAGIC: u8 = 1;
    pub const UUID: u8 = 2;
    pub const STREAM: u8 = 3;
    pub const INSTANCE: u8 = 4;
    pub const PACKET_SIZE: u8 = 5;
    pub const CONTENT_SIZE: u8 = 6;
    pub const SEQUENCE: u8 = 7;
    pub const DISCARDED: u8 = 8;
    pub const END: u8 = 9;
    pub const EVENT: u8 = 10;
    pub const CPU: u8 = 11;
    pub const CLOCK: u8 = 12;
    pub const CAPTURE: u8 = 13;
}

/// Names of ranges of values, ascending and disjoint.
#[derive(Default)]
pub struct Labels {
    ranges: Vec<(u64, u64, Box<str>)>,
    /// Maps the order of signed numbers to that of unsigned ones.
    flip: u64,
}

impl Labels {
    fn new(edges: &[u64], names: Vec<String>, signed: bool) -> Labels {
        let flip = if signed { 1 << 63 } else { 0 };
        let mut ranges: Vec<_> = edges
            .as_chunks::<2>()
            .0
            .iter()
            .zip(names)
            .map(|([first, last], name)| (first ^ flip, last ^ flip, name.into_boxed_str()))
            .collect();
        ranges.sort();
        Labels { ranges, flip }
    }

    #[inline]
    pub fn find(&self, value: u64) -> Option<&str> {
        if self.ranges.is_empty() {
            return None;
        }
        let value = value ^ self.flip;
        let behind = self.ranges.partition_point(|(first, _, _)| *first <= value);
        let (_, last, name) = self.ranges.get(behind.checked_sub(1)?)?;
        (value <= *last).then_some(name)
    }

    /// The names of the bits that are set in `value`, each once, even if it stands for several of them.
    pub fn bits(&self, value: u64) -> String {
        let mut found: Vec<&str> = Vec::new();
        for (first, last, name) in &self.ranges {
            let is_set = (*first..=(*last).min(63)).any(|bit| value >> bit & 1 == 1);
            if is_set && !found.contains(&&**name) {
                found.push(name);
            }
        }
        found.join("|")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Plain,
    Bool,
    Flags,
}

pub struct Int {
    /// In bits; 0 if the length varies.
    pub size: u32,
    pub signed: bool,
    pub little: bool,
    pub reverse: bool,
    pub form: Form,
    pub labels: Labels,
}

#[derive(Clone, Copy)]
pub enum Length {
    Known(u64),
    Field(usize),
    ToNull,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Bytes,
    Utf16(bool),
    Utf32(bool),
}

pub struct Choice {
    ranges: Vec<(u64, u64)>,
    pub node: usize,
}

impl Choice {
    pub fn has(&self, value: u64) -> bool {
        let within = |(first, last): &(u64, u64)| value.wrapping_sub(*first) <= last.wrapping_sub(*first);
        self.ranges.iter().any(within)
    }
}

pub enum FieldKind {
    Int(Int),
    Float { size: u32, little: bool },
    Text { length: Length, encoding: Encoding, blob: bool },
    Struct { parts: Vec<usize>, names: Vec<String> },
    Array { length: Length, text: bool, element: usize },
    Variant { slot: usize, options: Vec<Choice> },
    Optional { slot: usize, choice: Choice },
}

pub struct Node {
    /// The number of its column among those of its scope.
    pub out: usize,
    /// The slot that stores its value.
    pub slot: usize,
    pub role: u8,
    /// In bits, a power of two.
    pub align: u64,
    /// Its minimum size in bits.
    pub least: u64,
    pub what: FieldKind,
}

/// All nodes of a mount.
pub struct Program {
    pub nodes: Vec<Node>,
    pub slots: usize,
}

impl Program {
    /// Check the nodes from Python: parts have higher numbers than their owners, so that there are no cycles.
    pub fn new(metadata: Vec<NodeSpec>, slots: usize) -> PyResult<Program> {
        let mut nodes: Vec<Node> = Vec::with_capacity(metadata.len());
        let mut leasts = vec![0; metadata.len()];
        for (place, one) in metadata.into_iter().enumerate().rev() {
            if one.2.iter().any(|part| *part <= place || *part >= leasts.len()) {
                return Err(PyValueError::new_err("a node is not behind its whole"));
            }
            let node = node(one, &leasts)
                .ok_or_else(|| PyValueError::new_err("a node of the layout lacks some of its numbers"))?;
            leasts[place] = node.least;
            nodes.push(node);
        }
        nodes.reverse();
        Ok(Program { nodes, slots })
    }
}

fn number(value: u64) -> usize {
    usize::try_from(value).unwrap_or(NONE)
}

fn length(numbers: &[u64]) -> Option<Length> {
    match (*numbers.first()?, *numbers.get(1)?) {
        (u64::MAX, u64::MAX) => Some(Length::ToNull),
        (u64::MAX, slot) => Some(Length::Field(number(slot))),
        (known, _) => Some(Length::Known(known)),
    }
}

fn pairs(numbers: &[u64]) -> Vec<(u64, u64)> {
    let (pairs, _) = numbers.as_chunks::<2>();
    pairs.iter().map(|[first, last]| (*first, *last)).collect()
}

fn choices(mut numbers: &[u64], parts: &[usize]) -> Option<Vec<Choice>> {
    let mut found = Vec::new();
    for node in parts {
        let (count, rest) = numbers.split_first()?;
        let (ranges, rest) = rest.split_at_checked(number(*count).checked_mul(2)?)?;
        numbers = rest;
        found.push(Choice { ranges: pairs(ranges), node: *node });
    }
    Some(found)
}

fn node((form, numbers, parts, names): NodeSpec, leasts: &[u64]) -> Option<Node> {
    let (head, rest) = numbers.split_at_checked(4)?;
    let least_of = |part: &usize| leasts.get(*part).copied().unwrap_or(0);
    let (what, least) = match form.as_str() {
        "int" | "bool" | "flags" | "var" => {
            let (shape, edges) = rest.split_at_checked(4)?;
            let size = u32::try_from(shape[0]).ok().filter(|size| *size <= 64)?;
            let int = Int {
                size,
                signed: shape[1] != 0,
                little: shape[2] != 0,
                reverse: shape[3] != 0,
                form: match form.as_str() {
                    "bool" => Form::Bool,
                    "flags" => Form::Flags,
                    _ => Form::Plain,
                },
                labels: Labels::new(edges, names, shape[1] != 0),
            };
            (FieldKind::Int(int), u64::from(if size == 0 { 8 } else { size }))
        }
        "float" => {
            let size = u32::try_from(*rest.first()?).ok()?;
            let little = *rest.get(1)? != 0;
            (FieldKind::Float { size, little }, u64::from(size))
        }
        "text" => {
            let length = length(rest)?;
            let encoding = match *rest.get(3)? {
                0 => Encoding::Bytes,
                wide @ (1 | 2) => Encoding::Utf16(wide == 1),
                wide => Encoding::Utf32(wide == 3),
            };
            let blob = *rest.get(4)? != 0;
            let least = match length {
                Length::Known(bytes) => bytes.saturating_mul(8),
                Length::ToNull => 8,
                Length::Field(_) => 0,
            };
            let what = FieldKind::Text { length, encoding, blob };
            (what, least)
        }
        "struct" => {
            let least = parts.iter().map(least_of).fold(0, u64::saturating_add);
            (FieldKind::Struct { parts, names }, least)
        }
        "array" => {
            let length = length(rest)?;
            let text = *rest.get(2)? != 0;
            let element = *parts.first()?;
            let least = match length {
                Length::Known(count) => count.saturating_mul(least_of(&element)),
                _ => 0,
            };
            let what = FieldKind::Array { length, text, element };
            (what, least)
        }
        "variant" => {
            let options = choices(rest.get(1..)?, &parts)?;
            let least = parts.iter().map(least_of).min().unwrap_or(0);
            let slot = number(*rest.first()?);
            (FieldKind::Variant { slot, options }, least)
        }
        "optional" => {
            let choice = Choice { ranges: pairs(rest.get(1..)?), node: *parts.first()? };
            let slot = number(*rest.first()?);
            (FieldKind::Optional { slot, choice }, 0)
        }
        _ => return None,
    };
    Some(Node {
        out: number(head[0]),
        slot: number(head[1]),
        role: u8::try_from(head[2]).ok().filter(|role| *role <= role::CAPTURE)?,
        align: head[3].max(1),
        least,
        what,
    })
}
