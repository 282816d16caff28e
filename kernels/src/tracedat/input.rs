//! Bytes of a `trace.dat` file: random access, unpacking, numbers in the file's order.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::input::read_part;
use crate::input::unpack::Unpacker;
use crate::rows::Failure;
use crate::tracepoints::Order;

/// Maximum unpacked size of a section.
const SECTION_LIMIT: u64 = 1 << 26;

/// The compression of sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    None,
    Zlib,
    Zstd,
}

/// An open file.
pub struct Input {
    pub path: String,
    file: File,
    pub size: u64,
}

impl Input {
    pub fn open(path: &str) -> Result<Input, Failure> {
        let io = |error| Failure::Io(path.to_owned(), error);
        let file = File::open(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        Ok(Input { path: path.to_owned(), file, size })
    }

    /// Bytes from a place on: `wanted` of them, or fewer at the end of the file.
    pub fn read(&mut self, offset: u64, wanted: u64, into: &mut Vec<u8>) -> Result<(), Failure> {
        let length = wanted.min(self.size.saturating_sub(offset));
        read_part(&mut self.file, offset, length, into).map_err(|error| Failure::Io(self.path.clone(), error))
    }

    /// A cursor over the file from a place on.
    pub fn cursor(&self, offset: u64, order: Order) -> Result<Cursor, Failure> {
        let opened = self.file.try_clone().and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            Ok(file)
        });
        let file = opened.map_err(|error| Failure::Io(self.path.clone(), error))?;
        Ok(Cursor {
            source: Box::new(io::BufReader::with_capacity(1 << 16, file)),
            at: offset,
            left: self.size.saturating_sub(offset),
            order,
        })
    }

    /// A cursor over the bytes of a section, unpacked if it is packed.
    pub fn section(&mut self, section: &Section, method: Method, order: Order) -> Result<Cursor, Failure> {
        let mut bytes = Vec::new();
        self.read(section.data, section.size.min(SECTION_LIMIT), &mut bytes)?;
        if section.packed {
            let sizes = [bytes.get(0..4), bytes.get(4..8)];
            let [Some(packed), Some(whole)] = sizes.map(|size| size.and_then(|size| order.number(size, 4))) else {
                return Err(cut());
            };
            if whole > SECTION_LIMIT {
                return Err(bad(format!("a section has {whole} bytes unpacked, expected at most {SECTION_LIMIT}")));
            }
            let packed = usize::try_from(packed).unwrap_or(usize::MAX);
            let packed = bytes.get(8..packed.saturating_add(8)).ok_or_else(cut)?;
            let mut out = Vec::new();
            unpack(&mut method.unpacker(), packed, whole, &mut out)
                .map_err(|error| bad(format!("a section does not unpack: {error}")))?;
            bytes = out;
        }
        Ok(Cursor { left: bytes.len() as u64, source: Box::new(io::Cursor::new(bytes)), at: 0, order })
    }
}

/// The place of a section.
pub struct Section {
    pub id: u16,
    pub packed: bool,
    pub data: u64,
    pub size: u64,
}

impl Section {
    /// Read the header of a section.
    pub fn at(input: &Input, offset: u64, order: Order) -> Result<Section, Failure> {
        let mut cursor = input.cursor(offset, order)?;
        let id = cursor.number(2)? as u16;
        let flags = cursor.number(2)?;
        cursor.number(4)?;
        let size = cursor.number(8)?;
        Ok(Section { id, packed: flags & 1 != 0, data: offset.saturating_add(16), size })
    }
}

impl Method {
    pub fn unpacker(self) -> Option<Unpacker> {
        match self {
            Method::None => None,
            Method::Zlib => Some(Unpacker::zlib()),
            Method::Zstd => Unpacker::zstd().ok(),
        }
    }
}

/// Unpack bytes into at most `whole` bytes.
pub fn unpack(unpacker: &mut Option<Unpacker>, packed: &[u8], whole: u64, out: &mut Vec<u8>) -> io::Result<()> {
    match unpacker {
        Some(unpacker) => unpacker.whole(packed, whole, out),
        None => Err(io::Error::other("the file names no way of packing")),
    }
}

/// A position in bytes that are read sequentially.
pub struct Cursor {
    source: Box<dyn Read + Send>,
    /// The place of the next byte.
    pub at: u64,
    left: u64,
    pub order: Order,
}

impl Cursor {
    /// The next `count` bytes.
    pub fn bytes(&mut self, count: u64) -> Result<Vec<u8>, Failure> {
        if count > self.left || count > SECTION_LIMIT {
            return Err(cut());
        }
        let mut bytes = Vec::new();
        let read = Read::by_ref(&mut self.source).take(count).read_to_end(&mut bytes);
        if read.map_err(|error| bad(error.to_string()))? as u64 != count {
            return Err(cut());
        }
        self.at += count;
        self.left -= count;
        Ok(bytes)
    }

    /// A number of 1, 2, 4 or 8 bytes.
    pub fn number(&mut self, size: usize) -> Result<u64, Failure> {
        let bytes = self.bytes(size as u64)?;
        self.order.number(&bytes, size).ok_or_else(cut)
    }

    /// A text that ends with a zero byte, of at most `limit` bytes.
    pub fn text(&mut self, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut text = Vec::new();
        loop {
            match self.number(1)? {
                0 => return Ok(text),
                byte => text.push(byte as u8),
            }
            if text.len() > limit {
                return Err(bad("a name is too long".to_owned()));
            }
        }
    }

    /// A text preceded by its size.
    pub fn sized(&mut self, size: usize) -> Result<Vec<u8>, Failure> {
        let size = self.number(size)?;
        self.bytes(size)
    }

    pub fn is_empty(&self) -> bool {
        self.left == 0
    }
}

/// The error of a file with an incomplete header.
pub fn cut() -> Failure {
    bad("its header ends early".to_owned())
}

/// An error without the file's name, which is added where it is known.
pub fn bad(text: String) -> Failure {
    Failure::Bad(text)
}
