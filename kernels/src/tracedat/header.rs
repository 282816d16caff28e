//! The header of a `trace.dat` file: formats, symbols, names of threads, places of the pages.

use super::input::{Cursor, Input, Method, Section, bad, cut};
use super::options::{self, Options};
use crate::rows::Failure;
use crate::tracepoints::Order;

const MAGIC: &[u8] = b"\x17\x08\x44tracing";
const NAME_LIMIT: usize = 4096;
/// Maximum number of events of one system, and of systems.
const COUNT_LIMIT: u64 = 1 << 20;
/// Maximum number of chained sections of options.
const CHAIN_LIMIT: usize = 4096;
/// The sizes of pages: the smallest fits an event.
const PAGES: std::ops::RangeInclusive<u64> = 64..=1 << 24;

/// Ids of sections and of the options with their places.
const HEADER_INFO: u16 = 16;
const FTRACE_EVENTS: u16 = 17;
const EVENT_FORMATS: u16 = 18;
const KALLSYMS: u16 = 19;
const PRINTK: u16 = 20;
const CMDLINES: u16 = 21;

/// The pages of one CPU.
#[derive(Clone, Debug)]
pub struct CpuData {
    pub cpu: i64,
    pub offset: u64,
    pub size: u64,
}

/// A buffer of events: the main one, or that of an instance.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    pub name: Vec<u8>,
    /// The start of its section, or of the data before its pages.
    pub place: u64,
    pub clock: String,
    pub page: u64,
    pub cpus: Vec<CpuData>,
    pub packed: bool,
    /// Whether it holds the text of a latency tracer instead of pages.
    pub is_text: bool,
}

/// The data before the events.
pub struct Header {
    pub version: u32,
    pub order: Order,
    pub page: u64,
    pub method: Method,
    /// Bytes before the data of a page.
    pub page_head: usize,
    /// The texts of the events' formats.
    pub formats: Vec<Vec<u8>>,
    pub symbols: Vec<u8>,
    pub printks: Vec<u8>,
    pub cmdlines: Vec<u8>,
    pub options: Options,
    pub buffers: Vec<Buffer>,
    /// Descriptions of the parts that could not be read.
    pub faults: Vec<String>,
}

/// Read the data before the events.
pub fn read(input: &mut Input) -> Result<Header, Failure> {
    let order = Order { big: false, long: 8 };
    let mut cursor = input.cursor(0, order)?;
    let magic = cursor.bytes(MAGIC.len() as u64)?;
    if magic != MAGIC {
        return Err(bad("it does not begin as trace.dat does".to_owned()));
    }
    let version = String::from_utf8_lossy(&cursor.text(16)?).into_owned();
    let version = version.parse().ok().filter(|number| (5..=7).contains(number));
    let Some(version) = version else {
        return Err(bad("its version is unknown, expected 6 or 7".to_owned()));
    };
    let big = cursor.number(1)? == 1;
    let long = match cursor.number(1)? {
        4 => 4,
        8 => 8,
        other => return Err(bad(format!("a long has {other} bytes, expected 4 or 8"))),
    };
    cursor.order = Order { big, long };
    let page = cursor.number(4)?;
    if !PAGES.contains(&page) {
        return Err(bad(format!("a page has {page} bytes")));
    }
    let mut header = Header {
        version,
        order: cursor.order,
        page,
        method: Method::None,
        page_head: 8 + long,
        formats: Vec::new(),
        symbols: Vec::new(),
        printks: Vec::new(),
        cmdlines: Vec::new(),
        options: Options::default(),
        buffers: Vec::new(),
        faults: Vec::new(),
    };
    match version {
        7 => header.read_sections(input, &mut cursor)?,
        _ => header.read_in_order(input, &mut cursor)?,
    }
    Ok(header)
}

impl Header {
    /// Versions before 7: parts in a fixed order.
    fn read_in_order(&mut self, input: &mut Input, cursor: &mut Cursor) -> Result<(), Failure> {
        self.header_info(cursor)?;
        cursor.order = self.order;
        self.ftrace_events(cursor)?;
        self.event_formats(cursor)?;
        self.symbols = cursor.sized(4)?;
        self.printks = cursor.sized(4)?;
        if self.version >= 6 {
            self.cmdlines = cursor.sized(8)?;
        }
        let cpus = cursor.number(4)?;
        let mut buffers = Vec::new();
        let mut main = Buffer { page: self.page, ..Buffer::default() };
        self.data_of(cursor, cpus, &mut main, &mut buffers)?;
        let clocks = self.options.has_clock && !main.is_text;
        if clocks && let Ok(text) = cursor.sized(8) {
            self.options.clock = options::chosen(&text).unwrap_or_default();
        }
        main.clock.clone_from(&self.options.clock);
        self.buffers.push(main);
        let main_cpus = self.options.cpus.unwrap_or(cpus);
        for mut buffer in buffers {
            buffer.clock.clone_from(&self.options.clock);
            let mut cursor = input.cursor(buffer.place, self.order)?;
            let mut inner = Vec::new();
            match self.data_of(&mut cursor, main_cpus, &mut buffer, &mut inner) {
                Ok(()) => self.buffers.push(buffer),
                Err(_) => {
                    let name = String::from_utf8_lossy(&buffer.name).into_owned();
                    self.faults.push(format!("buffer `{name}` ends early"));
                }
            }
        }
        Ok(())
    }

    /// Options, and the places of the pages of a buffer; named buffers come with the place of their own.
    fn data_of(
        &mut self,
        cursor: &mut Cursor,
        cpus: u64,
        buffer: &mut Buffer,
        others: &mut Vec<Buffer>,
    ) -> Result<(), Failure> {
        let mut kind = cursor.bytes(10)?;
        let mut cpus = cpus;
        if kind.starts_with(b"options") {
            loop {
                let id = cursor.number(2)? as u16;
                if id == 0 {
                    break;
                }
                let data = cursor.sized(4)?;
                match id {
                    options::BUFFER => others.extend(options::buffer(&data, cursor.order, false)),
                    _ => self.options.read(id, &data, cursor.order),
                }
            }
            cpus = self.options.cpus.unwrap_or(cpus);
            kind = cursor.bytes(10)?;
        }
        if kind.starts_with(b"latency") {
            buffer.is_text = true;
            return Ok(());
        }
        if !kind.starts_with(b"flyrecord") {
            return Err(bad("it says neither flyrecord nor latency".to_owned()));
        }
        for cpu in 0..cpus.min(COUNT_LIMIT) {
            buffer.cpus.push(CpuData { cpu: cpu.cast_signed(), offset: cursor.number(8)?, size: cursor.number(8)? });
        }
        buffer.page = self.page;
        Ok(())
    }

    /// Version 7: options with the places of the sections.
    fn read_sections(&mut self, input: &mut Input, cursor: &mut Cursor) -> Result<(), Failure> {
        let name = cursor.text(NAME_LIMIT)?;
        cursor.text(NAME_LIMIT)?;
        self.method = match name.as_slice() {
            b"none" | b"" => Method::None,
            b"zlib" => Method::Zlib,
            b"zstd" => Method::Zstd,
            other => {
                let name = String::from_utf8_lossy(other);
                return Err(bad(format!("it is packed by `{name}`, expected zlib or zstd")));
            }
        };
        let mut next = cursor.number(8)?;
        let mut seen = Vec::new();
        while next != 0 {
            if seen.contains(&next) || seen.len() > CHAIN_LIMIT {
                self.faults.push("options follow each other in a circle".to_owned());
                break;
            }
            seen.push(next);
            match self.options_at(input, next) {
                Ok(place) => next = place,
                Err(error) if seen.len() == 1 => return Err(error),
                Err(error) => {
                    self.fault("options", &error);
                    break;
                }
            }
        }
        let sections = std::mem::take(&mut self.options.sections);
        for (id, place) in &sections {
            if let Err(error) = self.section(input, *id, *place) {
                self.fault(title(*id), &error);
            }
        }
        Ok(())
    }

    fn fault(&mut self, what: &str, error: &Failure) {
        let why = match error {
            Failure::Bad(text) => text.clone(),
            Failure::Io(_, error) => error.to_string(),
        };
        self.faults.push(format!("{what}: {why}"));
    }

    /// Read one section of options; returns the place of the next one.
    fn options_at(&mut self, input: &mut Input, place: u64) -> Result<u64, Failure> {
        let section = Section::at(input, place, self.order)?;
        if section.id != 0 {
            return Err(bad("its options are not where it says".to_owned()));
        }
        let mut cursor = input.section(&section, self.method, self.order)?;
        while !cursor.is_empty() {
            let id = cursor.number(2)? as u16;
            let data = cursor.sized(4)?;
            if id == 0 {
                return Ok(self.order.number(&data, 8).unwrap_or(0));
            }
            match id {
                options::BUFFER | options::BUFFER_TEXT => self.buffer(input, id, &data),
                _ => self.options.read(id, &data, self.order),
            }
        }
        Err(cut())
    }

    fn buffer(&mut self, input: &Input, id: u16, data: &[u8]) {
        let is_text = id == options::BUFFER_TEXT;
        let Some(mut buffer) = options::buffer(data, self.order, !is_text) else {
            return self.faults.push("a buffer: its description ends early".to_owned());
        };
        buffer.is_text = is_text;
        if !is_text && !PAGES.contains(&buffer.page) {
            let fault = format!("a buffer: its pages have {} bytes", buffer.page);
            return self.faults.push(fault);
        }
        match Section::at(input, buffer.place, self.order) {
            Ok(section) => {
                buffer.packed = section.packed;
                self.buffers.push(buffer);
            }
            Err(error) => self.fault("a buffer", &error),
        }
    }

    fn section(&mut self, input: &mut Input, id: u16, place: u64) -> Result<(), Failure> {
        let section = Section::at(input, place, self.order)?;
        if section.id != id {
            return Err(bad("the section is not where the options say".to_owned()));
        }
        let mut cursor = input.section(&section, self.method, self.order)?;
        match id {
            HEADER_INFO => self.header_info(&mut cursor)?,
            FTRACE_EVENTS => self.ftrace_events(&mut cursor)?,
            EVENT_FORMATS => self.event_formats(&mut cursor)?,
            KALLSYMS => self.symbols = cursor.sized(4)?,
            PRINTK => self.printks = cursor.sized(4)?,
            CMDLINES => self.cmdlines = cursor.sized(8)?,
            _ => {}
        }
        Ok(())
    }

    /// The layout of a page.
    fn header_info(&mut self, cursor: &mut Cursor) -> Result<(), Failure> {
        if cursor.bytes(12)? != b"header_page\0" {
            return Err(bad("the description of pages is missing".to_owned()));
        }
        let page = cursor.sized(8)?;
        for line in page.split(|b| *b == b'\n') {
            let number = |key: &[u8]| {
                let at = memchr::memmem::find(line, key)? + key.len();
                let digits = line[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                str::from_utf8(&line[at..at + digits]).ok()?.parse::<usize>().ok()
            };
            let has = |name: &[u8]| memchr::memmem::find(line, name).is_some();
            if has(b" commit;")
                && let Some(size @ (4 | 8)) = number(b"size:")
            {
                self.order.long = size;
                self.page_head = 8 + size;
            } else if has(b" data;")
                && let Some(offset @ 12..=64) = number(b"offset:")
            {
                self.page_head = offset;
            }
        }
        if cursor.bytes(13)? != b"header_event\0" {
            return Err(bad("the description of events is missing".to_owned()));
        }
        cursor.sized(8).map(drop)
    }

    fn ftrace_events(&mut self, cursor: &mut Cursor) -> Result<(), Failure> {
        for _ in 0..cursor.number(4)?.min(COUNT_LIMIT) {
            self.formats.push(cursor.sized(8)?);
        }
        Ok(())
    }

    fn event_formats(&mut self, cursor: &mut Cursor) -> Result<(), Failure> {
        for _ in 0..cursor.number(4)?.min(COUNT_LIMIT) {
            cursor.text(NAME_LIMIT)?;
            for _ in 0..cursor.number(4)?.min(COUNT_LIMIT) {
                self.formats.push(cursor.sized(8)?);
            }
        }
        Ok(())
    }
}

fn title(id: u16) -> &'static str {
    match id {
        HEADER_INFO => "description of pages",
        FTRACE_EVENTS => "formats of ftrace's events",
        EVENT_FORMATS => "formats of events",
        KALLSYMS => "symbols",
        PRINTK => "formats of trace_printk",
        CMDLINES => "names of threads",
        _ => "section",
    }
}
