//! Format the data after a record as the text of arguments or of a result, as in `uftrace replay`.

use std::io::Write;

use rustc_hash::FxHashMap;

use super::extended::extended;
use super::feed::Feed;
use super::record::BYTES;
use super::setup::{Setup, ValueRow};
use super::symbols::Symbols;
use crate::input::bytes::number_of;
use crate::rows::Failure;

/// Larger integers are shown in hexadecimal if no base is given.
const LARGE: i64 = 100_000;
/// Null pointers instead of texts, including the encoding of older versions.
const NULL: &[u8] = &[0xff; 4];

struct Value {
    kind: char,
    size: usize,
    type_name: String,
}

type Enum = Vec<(String, i64)>;

/// The owner of the data.
struct Place {
    session: usize,
    module: usize,
}

/// The layout of the data of a function.
struct Layout {
    arguments: Vec<Value>,
    results: Vec<Value>,
}

/// Numbers for unresolved functions, and for those without layout.
const NEW: u32 = u32::MAX;
const NONE: u32 = u32::MAX - 1;

/// The layouts of the data of functions.
pub struct Payloads {
    layouts: Vec<Layout>,
    /// Their numbers by module and address.
    places: FxHashMap<(usize, u64), u32>,
    /// The same by the number of the function.
    known: Vec<u32>,
    enums: FxHashMap<(i64, String), Enum>,
    big: bool,
}

/// The result of reading the data of a record.
pub enum Payload {
    /// Its number of bytes.
    Text(usize),
    /// The layout is not known.
    Unknown,
    /// The file ends within the data.
    Cut,
}

impl Payloads {
    pub fn new(setup: &mut Setup) -> Payloads {
        let mut places = FxHashMap::default();
        let mut layouts = Vec::new();
        for (module, address, values) in std::mem::take(&mut setup.layouts) {
            let (results, arguments) = values.into_iter().partition(|one| one.index == 0);
            places.insert((module, address), layouts.len() as u32);
            layouts.push(layout(arguments, results));
        }
        let mut enums = FxHashMap::default();
        for (module, name, values) in std::mem::take(&mut setup.enums) {
            enums.entry((module, name)).or_insert(values);
        }
        Payloads { layouts, places, known: Vec::new(), enums, big: setup.big_endian }
    }

    /// The number of a function's layout.
    fn layout(&mut self, symbols: &Symbols, function: u32) -> u32 {
        let at = function as usize;
        if let Some(known) = self.known.get(at)
            && *known != NEW
        {
            return *known;
        }
        let Some(one) = symbols.functions.get(at) else {
            return NONE;
        };
        let place = (one.module.unwrap_or(usize::MAX), one.address);
        let found = self.places.get(&place).copied().unwrap_or(NONE);
        if self.known.len() <= at {
            self.known.resize(at + 1, NEW);
        }
        self.known[at] = found;
        found
    }

    /// Read the data of the record at the head of the feed, of a session and function; nothing is consumed.
    pub fn read(
        &mut self,
        feed: &mut Feed,
        symbols: &Symbols,
        place: (usize, u32),
        result: bool,
        out: &mut Vec<u8>,
    ) -> Result<Payload, Failure> {
        out.clear();
        if !result {
            out.push(b'(');
        }
        let found = self.each(feed, symbols, place, result, |all, number, value, place| {
            if number == 0 || !result {
                if number > 0 {
                    out.extend_from_slice(b", ");
                }
                all.show(value.0, value.1, symbols, place, out);
            }
        })?;
        if !result {
            out.push(b')');
        }
        Ok(match found {
            Payload::Text(length) => Payload::Text(length.next_multiple_of(8)),
            other => other,
        })
    }

    /// Likewise, but the raw values, one per line; the length excludes the padding at the end.
    pub fn raw(
        &mut self,
        feed: &mut Feed,
        symbols: &Symbols,
        place: (usize, u32),
        result: bool,
        out: &mut Vec<u8>,
    ) -> Result<Payload, Failure> {
        out.clear();
        self.each(feed, symbols, place, result, |all, number, value, place| {
            // Writing to memory cannot fail.
            let _ = if result { write!(out, "  retval ") } else { write!(out, "  args[{number}] ") };
            all.show_raw(value, symbols, place, result, out);
            out.push(b'\n');
        })
    }

    /// Visit the values of the record at the head of the feed, and return their size in bytes.
    #[inline]
    fn each(
        &mut self,
        feed: &mut Feed,
        symbols: &Symbols,
        (session, function): (usize, u32),
        result: bool,
        mut take: impl FnMut(&Payloads, usize, (&Value, &[u8]), &Place),
    ) -> Result<Payload, Failure> {
        let big = self.big;
        let number = self.layout(symbols, function);
        let Some(layout) = self.layouts.get(number as usize) else {
            return Ok(Payload::Unknown);
        };
        let values = if result { &layout.results } else { &layout.arguments };
        if values.is_empty() {
            return Ok(Payload::Unknown);
        }
        let module = symbols.functions.get(function as usize);
        let module = module.and_then(|one| one.module).unwrap_or(usize::MAX);
        let place = Place { session, module };
        let mut at = BYTES;
        for (number, value) in values.iter().enumerate() {
            let mut size = value.size;
            if matches!(value.kind, 's' | 'S') {
                let Some(length) = feed.view(at + 2)?.get(at..) else {
                    return Ok(Payload::Cut);
                };
                size = number_of(length, big) as usize;
                at += 2;
            }
            let end = at + size;
            let Some(bytes) = feed.view(end)?.get(at..end) else {
                return Ok(Payload::Cut);
            };
            take(self, number, (value, bytes), &place);
            at = end.next_multiple_of(4);
        }
        Ok(Payload::Text(at - BYTES))
    }

    fn show_raw(
        &self,
        (value, bytes): (&Value, &[u8]),
        symbols: &Symbols,
        place: &Place,
        result: bool,
        out: &mut Vec<u8>,
    ) {
        let plain = number_of(bytes, self.big);
        // Writing to memory cannot fail.
        let _ = match value.kind {
            's' | 'S' => {
                let word: &[u8] = if value.kind == 's' { b"str: " } else { b"std::string: " };
                out.extend_from_slice(word);
                let text = bytes.split(|one| *one == 0).next().unwrap_or(bytes);
                let text = if bytes.starts_with(NULL) { b"NULL" } else { text };
                out.extend_from_slice(text);
                return;
            }
            'p' => {
                let found = symbols.find(place.session, plain);
                let module = found.and_then(|(module, _)| symbols.modules.get(module));
                let symbol = module.zip(found).and_then(|(one, at)| one.symbols.get(at.1));
                match symbol {
                    Some(symbol) => write!(out, "p: {plain:x} (&{})", symbol.name),
                    None if plain == 0 && result => write!(out, "p: (nil)"),
                    None if plain == 0 => write!(out, "p: 0"),
                    None => write!(out, "p: {plain:#x}"),
                }
            }
            'e' if !result => {
                let _ = write!(out, "enum {}: ", value.type_name);
                self.member(&value.type_name, plain.cast_signed(), place.module, out);
                write!(out, " ({})", plain.cast_signed())
            }
            't' => {
                let _ = write!(out, "struct {}:", value.type_name);
                for (at, byte) in bytes.iter().enumerate() {
                    if at % 16 == 0 {
                        out.extend_from_slice(b"\n\t");
                    }
                    let _ = write!(out, "{byte:02x} ");
                    if at % 8 == 7 {
                        out.push(b' ');
                    }
                }
                return;
            }
            kind => write!(out, "{kind}{}: {plain:#0width$x}", value.size * 8, width = value.size * 2 + 2),
        };
    }

    fn show(&self, value: &Value, bytes: &[u8], symbols: &Symbols, place: &Place, out: &mut Vec<u8>) {
        let plain = number_of(bytes, self.big);
        let signed = plain.cast_signed();
        // Writing to memory cannot fail.
        let _ = match value.kind {
            's' | 'S' => return text(bytes, value.kind == 'S', out),
            'c' => return character(bytes.first().copied().unwrap_or(0), out),
            'f' => return real(bytes, self.big, out),
            't' => write!(
                out,
                "{}{{{}}}",
                if value.type_name == "<lambda" { "" } else { &value.type_name },
                if value.size > 0 { "..." } else { "" }
            ),
            'p' => match symbols.find(place.session, plain) {
                Some((module, symbol)) => {
                    let name = symbols.modules.get(module).and_then(|one| one.symbols.get(symbol));
                    write!(out, "&{}", name.map_or("", |one| one.name.as_str()))
                }
                None if plain == 0 => write!(out, "0"),
                None => write!(out, "{plain:#x}"),
            },
            'e' => return self.member(&value.type_name, signed, place.module, out),
            'd' if signed.unsigned_abs() > LARGE.unsigned_abs() => {
                if plain > 0xffff_0000 && plain <= 0xffff_ffff {
                    write!(out, "{}", plain as u32 as i32)
                } else {
                    write!(out, "{plain:#x}")
                }
            }
            'd' | 'i' => return whole(widened(signed, value.size), out),
            'u' if plain > LARGE as u64 => write!(out, "{plain:#x}"),
            'o' if plain > 0 => write!(out, "0{plain:o}"),
            'x' if plain > 0 => write!(out, "{plain:#x}"),
            _ => return digits(plain, out),
        };
    }

    fn member(&self, name: &str, value: i64, module: usize, out: &mut Vec<u8>) {
        let module = i64::try_from(module).unwrap_or(-1);
        let found = self.enums.get(&(module, name.to_owned()));
        let found = found.or_else(|| self.enums.get(&(-1, name.to_owned())));
        let Some(members) = found else {
            let _ = write!(out, "{value}");
            return;
        };
        if let Some((name, _)) = members.iter().find(|one| one.1 == value) {
            out.extend_from_slice(name.as_bytes());
            return;
        }
        flags(members, value, out);
    }
}

/// A value without a name: names of bits that add up to it, and the rest.
fn flags(members: &Enum, value: i64, out: &mut Vec<u8>) {
    let mut left = value;
    let mut any = false;
    for (name, one) in members {
        if *one <= left {
            left = left.wrapping_sub(*one);
            if any {
                out.push(b'|');
            }
            any = true;
            out.extend_from_slice(name.as_bytes());
        }
        if left == 0 {
            break;
        }
    }
    let _ = match (any, left) {
        (true, 0) => Ok(()),
        (true, _) => write!(out, "+{left:#x}"),
        (false, _) if left.unsigned_abs() > LARGE as u64 => write!(out, "{left:#x}"),
        (false, _) => write!(out, "{left}"),
    };
}

fn layout(arguments: Vec<ValueRow>, results: Vec<ValueRow>) -> Layout {
    Layout { arguments: arguments.into_iter().map(value).collect(), results: results.into_iter().map(value).collect() }
}

fn whole(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    digits(number.unsigned_abs(), out);
}

/// A decimal number; much faster than Rust's formatting.
fn digits(mut number: u64, out: &mut Vec<u8>) {
    let begin = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[begin..].reverse();
}

fn value(row: ValueRow) -> Value {
    Value { kind: row.kind, size: row.size, type_name: row.type_name }
}

/// Sign-extends a number of fewer than 8 bytes.
fn widened(value: i64, size: usize) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8) as u32;
    value << unused >> unused
}

fn text(bytes: &[u8], string: bool, out: &mut Vec<u8>) {
    if bytes == NULL {
        out.extend_from_slice(b"NULL");
    } else {
        // Bytes after a zero were not part of the text.
        let bytes = bytes.split(|one| *one == 0).next().unwrap_or(bytes);
        out.push(b'"');
        if bytes.is_ascii() {
            bytes.iter().for_each(|one| escaped(*one, out));
        } else {
            out.extend_from_slice(bytes);
        }
        out.push(b'"');
    }
    if string {
        out.push(b's');
    }
}

fn character(byte: u8, out: &mut Vec<u8>) {
    out.push(b'\'');
    escaped(byte, out);
    out.push(b'\'');
}

fn escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        0 => out.extend_from_slice(b"\\0"),
        8 => out.extend_from_slice(b"\\b"),
        b'\n' => out.extend_from_slice(b"\\n"),
        byte => out.push(byte),
    }
}

fn real(bytes: &[u8], big: bool, out: &mut Vec<u8>) {
    let plain = number_of(bytes, big);
    let value = match bytes.len() {
        4 => f64::from(f32::from_bits(plain as u32)),
        8 => f64::from_bits(plain),
        10 => return extended(bytes, big, out),
        _ => {
            let _ = write!(out, "{plain:#x}");
            return;
        }
    };
    let _ = if value.is_nan() {
        write!(out, "{}nan", if value.is_sign_negative() { "-" } else { "" })
    } else {
        write!(out, "{value:.6}")
    };
}
