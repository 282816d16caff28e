//! Parse descriptors of protobuf messages into tables of fields, looked up by number.

use rustc_hash::FxHashMap;

use super::wire::{Fields, Value, zigzag};

/// Fields with smaller numbers are found without hashing.
const DENSE: usize = 1024;
/// Traces may contain descriptors of their own; more messages than this are ignored.
const MOST_MESSAGES: usize = 1 << 14;
const MOST_FIELDS: usize = 1 << 17;
const DEEPEST: usize = 32;

/// The meaning of a field's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Double,
    Float,
    Int,
    Int32,
    Uint,
    Uint32,
    Sint,
    Fixed64,
    Fixed32,
    Sfixed64,
    Sfixed32,
    Bool,
    Text,
    Bytes,
    /// Number of the enumeration.
    Enum(usize),
    /// Number of the message.
    Message(usize),
    /// Groups, and messages without a descriptor.
    Unknown,
}

/// A number by its kind.
pub enum Scalar {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
}

impl Kind {
    /// The value of a number's bits; None for texts and messages, and bits of another width.
    #[inline]
    pub fn scalar(self, value: Value<'_>) -> Option<Scalar> {
        Some(match (self, value) {
            (Kind::Int | Kind::Enum(_), Value::Varint(bits)) => Scalar::Int(bits.cast_signed()),
            (Kind::Int32, Value::Varint(bits)) => Scalar::Int(i64::from((bits as u32).cast_signed())),
            (Kind::Uint, Value::Varint(bits)) => Scalar::Uint(bits),
            (Kind::Uint32, Value::Varint(bits)) => Scalar::Int(i64::from(bits as u32)),
            (Kind::Sint, Value::Varint(bits)) => Scalar::Int(zigzag(bits)),
            (Kind::Bool, Value::Varint(bits)) => Scalar::Bool(bits != 0),
            (Kind::Double, Value::Fixed64(bits)) => Scalar::Float(f64::from_bits(bits)),
            (Kind::Float, Value::Fixed32(bits)) => Scalar::Float(f64::from(f32::from_bits(bits))),
            (Kind::Fixed64, Value::Fixed64(bits)) => Scalar::Uint(bits),
            (Kind::Fixed32, Value::Fixed32(bits)) => Scalar::Uint(u64::from(bits)),
            (Kind::Sfixed64, Value::Fixed64(bits)) => Scalar::Int(bits.cast_signed()),
            (Kind::Sfixed32, Value::Fixed32(bits)) => Scalar::Int(i64::from(bits.cast_signed())),
            _ => return None,
        })
    }

    fn of(number: u64) -> Kind {
        match number {
            1 => Kind::Double,
            2 => Kind::Float,
            3 => Kind::Int,
            5 => Kind::Int32,
            4 => Kind::Uint,
            13 => Kind::Uint32,
            6 => Kind::Fixed64,
            7 => Kind::Fixed32,
            8 => Kind::Bool,
            9 => Kind::Text,
            12 => Kind::Bytes,
            15 => Kind::Sfixed32,
            16 => Kind::Sfixed64,
            17 | 18 => Kind::Sint,
            _ => Kind::Unknown,
        }
    }
}

/// A field of a message.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub number: u32,
    pub kind: Kind,
    pub repeated: bool,
}

/// A message type.
#[derive(Default, Debug)]
pub struct Message {
    pub name: String,
    fields: Vec<Field>,
    /// Places in `fields` plus one, by number.
    dense: Vec<u16>,
    sparse: FxHashMap<u32, u16>,
}

impl Message {
    #[inline]
    pub fn field(&self, number: u32) -> Option<&Field> {
        self.place(number).map(|(_, field)| field)
    }

    /// A field and its place in the message.
    #[inline]
    pub fn place(&self, number: u32) -> Option<(usize, &Field)> {
        let place = match self.dense.get(number as usize) {
            Some(place) => *place,
            None => *self.sparse.get(&number)?,
        };
        let place = usize::from(place).checked_sub(1)?;
        Some((place, self.fields.get(place)?))
    }

    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    pub fn named(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    fn add(&mut self, field: Field) {
        let number = field.number as usize;
        let Ok(place) = u16::try_from(self.fields.len() + 1) else {
            return;
        };
        if self.field(field.number).is_some() {
            return;
        }
        if number < DENSE {
            if self.dense.len() <= number {
                self.dense.resize(number + 1, 0);
            }
            self.dense[number] = place;
        } else {
            self.sparse.insert(field.number, place);
        }
        self.fields.push(field);
    }
}

/// A field that waits for its message, and for its own type.
struct Waiting {
    message: String,
    field: Field,
    type_name: String,
}

/// All known messages and enumerations.
#[derive(Default)]
pub struct Schema {
    messages: Vec<Message>,
    enums: Vec<FxHashMap<i64, String>>,
    message_names: FxHashMap<String, usize>,
    enum_names: FxHashMap<String, usize>,
    fields: usize,
}

impl Schema {
    pub fn message(&self, number: usize) -> Option<&Message> {
        self.messages.get(number)
    }

    pub fn value_name(&self, number: usize, value: i64) -> Option<&str> {
        self.enums.get(number)?.get(&value).map(String::as_str)
    }

    /// The number of a message by its name without package.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.message_names.get(&format!(".perfetto.protos.{name}")).copied()
    }

    /// The number of a message by its full name.
    pub fn named(&self, name: &[u8]) -> Option<usize> {
        let name = str::from_utf8(name).ok()?;
        let whole = match name.strip_prefix('.') {
            Some(_) => name.to_owned(),
            None => format!(".{name}"),
        };
        self.message_names.get(&whole).copied()
    }

    /// Add the messages of a file descriptor; existing messages and fields are not changed.
    pub fn add_file(&mut self, file: &[u8]) {
        let mut scope = String::new();
        if let Some(package) = super::wire::bytes(file, 2).filter(|name| !name.is_empty()) {
            scope = format!(".{}", String::from_utf8_lossy(package));
        }
        let mut waiting = Vec::new();
        for (number, value) in Fields::of(file) {
            match (number, value) {
                (4, Value::Bytes(message)) => {
                    self.add_message(&scope, message, &mut waiting, 0);
                }
                (5, Value::Bytes(one)) => self.add_enum(&scope, one),
                (7, Value::Bytes(extension)) => waiting.extend(extended(extension)),
                _ => (),
            }
        }
        self.settle(waiting);
    }

    /// Add a single message without references; returns its number and its name.
    pub fn add_alone(&mut self, message: &[u8]) -> Option<(usize, String)> {
        let mut waiting = Vec::new();
        let scope = format!(".generic.{}", self.messages.len());
        let number = self.add_message(&scope, message, &mut waiting, 0)?;
        self.settle(waiting);
        let name = self.message(number)?.name.clone();
        Some((number, name))
    }

    /// Add a field to a message.
    pub fn add_field(&mut self, message: usize, field: Field) {
        if self.fields < MOST_FIELDS
            && let Some(message) = self.messages.get_mut(message)
        {
            message.add(field);
            self.fields += 1;
        }
    }

    fn add_message(&mut self, scope: &str, bytes: &[u8], waiting: &mut Vec<Waiting>, depth: usize) -> Option<usize> {
        if depth > DEEPEST || self.messages.len() >= MOST_MESSAGES {
            return None;
        }
        let name = String::from_utf8_lossy(super::wire::bytes(bytes, 1)?).into_owned();
        let whole = format!("{scope}.{name}");
        if self.message_names.contains_key(&whole) {
            return None;
        }
        let number = self.messages.len();
        self.messages.push(Message { name, ..Message::default() });
        for (tag, value) in Fields::of(bytes) {
            match (tag, value) {
                (2, Value::Bytes(field)) => waiting.extend(declared(&whole, field)),
                (3, Value::Bytes(nested)) => {
                    self.add_message(&whole, nested, waiting, depth + 1);
                }
                (4, Value::Bytes(one)) => self.add_enum(&whole, one),
                (6, Value::Bytes(extension)) => waiting.extend(extended(extension)),
                _ => (),
            }
        }
        self.message_names.insert(whole, number);
        Some(number)
    }

    fn add_enum(&mut self, scope: &str, bytes: &[u8]) {
        let Some(name) = super::wire::bytes(bytes, 1) else {
            return;
        };
        let whole = format!("{scope}.{}", String::from_utf8_lossy(name));
        if self.enums.len() >= MOST_MESSAGES || self.enum_names.contains_key(&whole) {
            return;
        }
        let mut names = FxHashMap::default();
        for (tag, value) in Fields::of(bytes) {
            if let (2, Value::Bytes(one)) = (tag, value)
                && let Some(name) = super::wire::bytes(one, 1)
            {
                let number = super::wire::number(one, 2).unwrap_or(0).cast_signed();
                let name = String::from_utf8_lossy(name).into_owned();
                names.entry(number).or_insert(name);
            }
        }
        self.enum_names.insert(whole, self.enums.len());
        self.enums.push(names);
    }

    /// Add fields to their messages, now that all types are known.
    fn settle(&mut self, waiting: Vec<Waiting>) {
        for Waiting { message, mut field, type_name } in waiting {
            if !type_name.is_empty() {
                field.kind = match (self.message_names.get(&type_name), self.enum_names.get(&type_name)) {
                    (Some(number), _) => Kind::Message(*number),
                    (None, Some(number)) => Kind::Enum(*number),
                    (None, None) => Kind::Unknown,
                };
            }
            if let Some(number) = self.message_names.get(&message) {
                self.add_field(*number, field);
            }
        }
    }
}

/// A field from its descriptor, with the message that it extends.
fn extended(bytes: &[u8]) -> Option<Waiting> {
    let message = super::wire::bytes(bytes, 2)?;
    declared(&String::from_utf8_lossy(message), bytes)
}

fn declared(message: &str, bytes: &[u8]) -> Option<Waiting> {
    let mut field = Field { name: String::new(), number: 0, kind: Kind::Unknown, repeated: false };
    let mut type_name = String::new();
    for (tag, value) in Fields::of(bytes) {
        match (tag, value) {
            (1, Value::Bytes(name)) => field.name = String::from_utf8_lossy(name).into_owned(),
            (3, Value::Varint(number)) => field.number = u32::try_from(number).ok()?,
            (4, Value::Varint(label)) => field.repeated = label == 3,
            (5, Value::Varint(number)) => field.kind = Kind::of(number),
            (6, Value::Bytes(name)) => type_name = String::from_utf8_lossy(name).into_owned(),
            _ => (),
        }
    }
    (!field.name.is_empty() && field.number > 0).then(|| Waiting { message: message.to_owned(), field, type_name })
}
