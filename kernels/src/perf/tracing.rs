//! Build a decoder of the raw data of samples from the tracepoint formats in a trace.

use crate::input::bytes::Bytes;
use crate::tracepoints::{Optional, Order, Symbols, Tracepoints};

/// The result of reading.
pub struct Tracing {
    pub tracepoints: Tracepoints,
    /// System, name and number of each event.
    pub names: Vec<(u32, String)>,
    pub functions: Option<Symbols>,
}

/// Read the formats; those after damage are missing, and then `whole` is false.
pub fn read(bytes: &[u8], whole: &mut bool) -> Option<Tracing> {
    const MAGIC: &[u8] = b"\x17\x08\x44tracing";
    let mut at = Bytes::new(bytes, false);
    if at.take(MAGIC.len())? != MAGIC {
        return None;
    }
    at.zero_text()?;
    at.big = at.u8()? == 1;
    let order = Order { big: at.big, long: usize::from(at.u8()?) };
    at.skip(4)?;
    let optional = Optional { tgid: true, ..Optional::default() };
    let mut found = Tracing { tracepoints: Tracepoints::new(order, optional), names: Vec::new(), functions: None };
    *whole = sections(&mut at, &mut found).is_some();
    Some(found)
}

fn sections(at: &mut Bytes<'_>, found: &mut Tracing) -> Option<()> {
    for title in ["header_page", "header_event"] {
        if at.zero_text()? != title.as_bytes() {
            return None;
        }
        sized(at)?;
    }
    for _ in 0..at.u32()? {
        let text = sized(at)?;
        add("ftrace", text, found);
    }
    for _ in 0..at.u32()? {
        let system = String::from_utf8_lossy(at.zero_text()?).into_owned();
        for _ in 0..at.u32()? {
            let text = sized(at)?;
            add(&system, text, found);
        }
    }
    let size = at.u32()? as usize;
    let functions = at.take(size)?;
    if !functions.is_empty() {
        found.functions = Some(Symbols::parse(functions.to_vec()));
        found.tracepoints.set_symbols(Symbols::parse(functions.to_vec()));
    }
    let size = at.u32()? as usize;
    let formats = at.take(size)?;
    found.tracepoints.add_printks(formats);
    Some(())
}

fn add(system: &str, text: &[u8], found: &mut Tracing) {
    if let Some((name, id)) = name_of(text) {
        found.names.push((id, format!("{system}:{name}")));
    }
    found.tracepoints.add(text.to_vec());
}

/// The name and number at the beginning of a format.
fn name_of(text: &[u8]) -> Option<(String, u32)> {
    let text = str::from_utf8(text.get(..text.len().min(512))?);
    let text = text.unwrap_or_default();
    let rest = text.strip_prefix("name: ")?;
    let (name, rest) = rest.split_once('\n')?;
    let id = rest.strip_prefix("ID: ")?;
    let id = id.split('\n').next()?.trim().parse().ok()?;
    Some((name.trim().to_owned(), id))
}

fn sized<'a>(at: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let size = usize::try_from(at.u64()?).ok()?;
    at.take(size)
}
