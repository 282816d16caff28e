//! Decode the bits of an event by the nodes of its layout, and put the values into columns, JSON, or only slots.

use std::io::Write;

use super::bits::{Bits, Stop, reversed, sign_extended};
use super::clock::Cycles;
use super::layout::{Choice, Encoding, FieldKind, Form, Int, Length, NONE, Node, Program, role};
use super::out::{Json, Nothing, Out};
use super::texts;
use crate::input::bytes::until_zero;

/// Maximum number of fields without bits in an event.
const EMPTY_FIELDS: u64 = 1 << 20;

const LOST: Stop = Stop::Damaged("the layout is inconsistent");

/// The values of fields with a role.
#[derive(Clone, Default)]
pub struct Seen {
    values: [u64; 14],
    known: u16,
    pub uuid: Option<[u8; 16]>,
    pub cycles: Cycles,
    /// Whether there was a time.
    pub timed: bool,
    /// Bits of the last number that continues from packet to packet.
    pub discarded_bits: u32,
}

impl Seen {
    pub fn forget(&mut self) {
        self.known = 0;
        self.uuid = None;
    }

    #[inline]
    pub fn get(&self, role: u8) -> Option<u64> {
        if self.known >> role & 1 == 0 {
            return None;
        }
        self.values.get(usize::from(role)).copied()
    }

    #[inline]
    fn set(&mut self, role: u8, value: u64, size: u32) {
        match role {
            role::CLOCK => {
                self.cycles.update(value, size);
                self.timed = true;
            }
            role::DISCARDED => self.discarded_bits = size,
            _ => {}
        }
        if let Some(kept) = self.values.get_mut(usize::from(role)) {
            *kept = value;
            self.known |= 1 << role;
        }
    }
}

/// The state of a walk over fields, besides the bits.
pub struct Walker<'a> {
    pub program: &'a Program,
    pub slots: &'a mut [u64],
    pub seen: &'a mut Seen,
    pub captured: &'a mut Vec<u8>,
    pub scratch: &'a mut Vec<u8>,
    /// Values that are null because they are too long.
    pub too_long: &'a mut u64,
    budget: u64,
}

impl<'a> Walker<'a> {
    #[inline]
    pub fn new(
        program: &'a Program,
        (slots, seen): (&'a mut [u64], &'a mut Seen),
        (captured, scratch): (&'a mut Vec<u8>, &'a mut Vec<u8>),
        too_long: &'a mut u64,
    ) -> Walker<'a> {
        Walker { program, slots, seen, captured, scratch, too_long, budget: EMPTY_FIELDS }
    }

    /// Decode a field, and put its visible values into `out`.
    pub fn field<O: Out>(&mut self, bits: &mut Bits<'_>, place: usize, out: &mut O) -> Result<(), Stop> {
        let program = self.program;
        let Some(node) = program.nodes.get(place) else {
            return Err(LOST);
        };
        bits.align(node.align);
        match &node.what {
            FieldKind::Int(int) => self.int(bits, node, int, out),
            FieldKind::Float { size, little } => {
                let raw = bits.number(*size, *little)?;
                let value = match size {
                    32 => f64::from(f32::from_bits(raw as u32)),
                    _ => f64::from_bits(raw),
                };
                out.float(node.out, value);
                Ok(())
            }
            FieldKind::Text { length, encoding, blob } => self.text(bits, node, (*length, *encoding, *blob), out),
            FieldKind::Struct { parts, names } => {
                if !O::NESTED {
                    for part in parts {
                        self.field(bits, *part, out)?;
                    }
                    return Ok(());
                }
                out.open(b'{');
                for (part, name) in parts.iter().zip(names) {
                    out.key(name);
                    self.field(bits, *part, out)?;
                }
                out.close(b'}');
                Ok(())
            }
            FieldKind::Array { length, text, element } => self.array(bits, node, (*length, *text, *element), out),
            FieldKind::Variant { slot, options } => {
                let value = self.slot(*slot)?;
                let chosen = options.iter().find(|option| option.has(value));
                match chosen {
                    Some(Choice { node, .. }) => self.field(bits, *node, out),
                    None => Err(Stop::Damaged("a variant has no option for its selector")),
                }
            }
            FieldKind::Optional { slot, choice } => {
                if choice.has(self.slot(*slot)?) {
                    return self.field(bits, choice.node, out);
                }
                out.null(node.out);
                Ok(())
            }
        }
    }

    fn slot(&self, slot: usize) -> Result<u64, Stop> {
        self.slots.get(slot).copied().ok_or(LOST)
    }

    #[inline]
    fn int<O: Out>(&mut self, bits: &mut Bits<'_>, node: &Node, int: &Int, out: &mut O) -> Result<(), Stop> {
        let (mut value, mut size) = (0, int.size);
        if size == 0 {
            (value, size) = bits.varying(int.signed)?;
        } else {
            value |= bits.number(size, int.little)?;
            if int.reverse {
                value = reversed(value, size);
            }
            if int.signed {
                value = sign_extended(value, size);
            }
        }
        if node.slot != NONE {
            *self.slots.get_mut(node.slot).ok_or(LOST)? = value;
        }
        if node.role != 0 {
            self.seen.set(node.role, value, size);
        }
        if node.out == NONE && !O::NESTED {
            return Ok(());
        }
        match int.form {
            Form::Bool => out.bool(node.out, value != 0),
            Form::Flags => out.text(node.out, int.labels.bits(value).as_bytes()),
            Form::Plain => match int.labels.find(value) {
                Some(name) => out.text(node.out, name.as_bytes()),
                None if int.signed => out.int(node.out, value.cast_signed()),
                None if int.size == 0 || int.size == 64 => out.uint(node.out, value),
                None => out.int(node.out, value.cast_signed()),
            },
        }
        Ok(())
    }

    /// The number of elements or bytes; each takes at least `least` bits.
    fn length(&mut self, bits: &Bits<'_>, length: Length, least: u64) -> Result<u64, Stop> {
        let count = match length {
            Length::Known(count) => count,
            Length::Field(slot) => self.slot(slot)?,
            Length::ToNull => 0,
        };
        if least > 0 {
            return match count.checked_mul(least) {
                Some(all) if all <= bits.left() => Ok(count),
                _ => Err(Stop::Damaged("a length goes beyond the content of its packet")),
            };
        }
        self.budget = match self.budget.checked_sub(count) {
            Some(left) => left,
            None => return Err(Stop::Damaged("a length is absurd")),
        };
        Ok(count)
    }

    fn text<O: Out>(
        &mut self,
        bits: &mut Bits<'_>,
        node: &Node,
        (length, encoding, blob): (Length, Encoding, bool),
        out: &mut O,
    ) -> Result<(), Stop> {
        let raw = match length {
            Length::ToNull => bits.until_null(texts::width(encoding))?,
            _ => {
                let count = self.length(bits, length, 8)?;
                bits.bytes(count)?
            }
        };
        if node.role == role::UUID {
            self.seen.uuid = raw.try_into().ok();
            return Ok(());
        }
        if node.role == role::CAPTURE {
            self.captured.clear();
            self.captured.extend_from_slice(until_zero(raw));
        }
        match encoding {
            _ if blob => {
                let mut hex = Vec::with_capacity(raw.len() * 2);
                texts::hex(raw, &mut hex);
                out.text(node.out, &hex);
            }
            Encoding::Bytes => out.text(node.out, until_zero(raw)),
            _ => out.text(node.out, texts::wide(raw, encoding).as_bytes()),
        }
        Ok(())
    }

    fn array<O: Out>(
        &mut self,
        bits: &mut Bits<'_>,
        node: &Node,
        (length, text, element): (Length, bool, usize),
        out: &mut O,
    ) -> Result<(), Stop> {
        let least = self.program.nodes.get(element).ok_or(LOST)?.least;
        let count = self.length(bits, length, least)?;
        if text && bits.pos & 7 == 0 {
            let raw = until_zero(bits.bytes(count)?);
            if node.role == role::CAPTURE {
                self.captured.clear();
                self.captured.extend_from_slice(raw);
            }
            out.text(node.out, raw);
            return Ok(());
        }
        if O::NESTED {
            out.open(b'[');
            for _ in 0..count {
                out.item();
                self.field(bits, element, out)?;
            }
            out.close(b']');
            return Ok(());
        }
        if node.out == NONE {
            for _ in 0..count {
                self.field(bits, element, &mut Nothing)?;
            }
            return Ok(());
        }
        let mut json = Json::new(std::mem::take(self.scratch));
        json.open(b'[');
        let mut result = Ok(());
        for _ in 0..count {
            json.item();
            result = self.field(bits, element, &mut json);
            if result.is_err() {
                break;
            }
        }
        json.close(b']');
        match json.text() {
            Some(text) if result.is_ok() => out.text(node.out, text),
            Some(_) => {}
            None => *self.too_long += 1,
        }
        *self.scratch = json.into_buffer();
        result
    }
}

/// Write a number without allocating.
pub fn write_number(buffer: &mut Vec<u8>, value: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = buffer.write_fmt(value);
}
