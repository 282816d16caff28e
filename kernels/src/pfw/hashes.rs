//! Metadata records that give hashes their texts into columns of texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::decode::{HashKind, HashRecord};
use super::report::{Report, Trouble};
use crate::columns::{Interner, coded_arrays};

/// What a hash stands for.
enum Meaning {
    /// The same text in all files.
    Everywhere(Vec<u8>),
    /// Different texts: that of each file, none where the file itself gives several.
    PerFile(BTreeMap<usize, Option<Vec<u8>>>),
}

/// All hashes of a trace.
#[derive(Default)]
pub struct Book {
    meanings: FxHashMap<(u8, Vec<u8>), Meaning>,
}

impl Book {
    /// Collect the records of a trace; hashes with several texts are reported.
    pub fn new(records: Vec<HashRecord>, report: &mut Report) -> Book {
        let mut meanings: FxHashMap<(u8, Vec<u8>), Meaning> = FxHashMap::default();
        let mut clashes: FxHashMap<(u8, Vec<u8>), ()> = FxHashMap::default();
        for record in &records {
            let key = (record.kind as u8, record.hash.clone());
            match meanings.get(&key) {
                None => {
                    meanings.insert(key, Meaning::Everywhere(record.text.clone()));
                }
                Some(Meaning::Everywhere(text)) if *text == record.text => (),
                Some(_) => {
                    clashes.insert(key, ());
                }
            }
        }
        if !clashes.is_empty() {
            for record in records {
                let key = (record.kind as u8, record.hash);
                if clashes.contains_key(&key) {
                    clash(&mut meanings, key, record.file, record.text, report);
                }
            }
        }
        Book { meanings }
    }

    fn find(&self, kinds: &[HashKind], hash: &[u8]) -> Option<&Meaning> {
        kinds
            .iter()
            .find_map(|kind| self.meanings.get(&(*kind as u8, hash.to_vec())))
    }
}

fn clash(
    meanings: &mut FxHashMap<(u8, Vec<u8>), Meaning>,
    key: (u8, Vec<u8>),
    file: usize,
    text: Vec<u8>,
    report: &mut Report,
) {
    let hash = String::from_utf8_lossy(&key.1).into_owned();
    let meaning = meanings
        .entry(key)
        .or_insert_with(|| Meaning::PerFile(BTreeMap::new()));
    if let Meaning::Everywhere(first) = meaning {
        let first = String::from_utf8_lossy(first);
        report.note(
            file,
            Trouble::AmbiguousHash,
            1,
            &format!("{hash}: {first} and others"),
        );
        *meaning = Meaning::PerFile(BTreeMap::new());
    }
    if let Meaning::PerFile(files) = meaning {
        let known = files.entry(file).or_insert_with(|| Some(text.clone()));
        if known.as_ref().is_some_and(|known| *known != text) {
            *known = None;
        }
    }
}

/// The kinds of records in which the text of a column of hashes stands, and the name of the column with the texts.
pub fn resolution(column: &str) -> Option<(&'static [HashKind], String)> {
    use HashKind::{File, Host, String as Text};
    Some(match column {
        "fhash" => (&[File], "fname".to_owned()),
        "hhash" => (&[Host], "hostname".to_owned()),
        "cwd" => (&[File, Text], "cwd_path".to_owned()),
        "shash" => (&[Text], "shash_text".to_owned()),
        _ => (
            &[Text, File],
            column
                .strip_suffix("_hash")
                .filter(|name| !name.is_empty())?
                .to_owned(),
        ),
    })
}

/// The batches of a column, and of which file the rows of each are: from which row on which file.
pub struct Rows<'a> {
    pub files: &'a [Vec<(usize, usize)>],
    pub arrays: &'a [ArrayRef],
    /// Texts that some writers give directly, which win.
    pub direct: Option<&'a [ArrayRef]>,
}

/// A text column, row by row.
enum Texts<'a> {
    Plain(&'a StringArray),
    Coded(&'a [i32], &'a StringArray, Option<&'a NullBuffer>),
}

impl<'a> Texts<'a> {
    fn of(array: &'a ArrayRef) -> Option<Texts<'a>> {
        if let Some(plain) = array.as_string_opt::<i32>() {
            return Some(Texts::Plain(plain));
        }
        let coded = array.as_dictionary_opt::<Int32Type>()?;
        Some(Texts::Coded(
            coded.keys().values(),
            coded.values().as_string_opt()?,
            coded.nulls(),
        ))
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Texts::Plain(texts) => texts.is_valid(row).then(|| texts.value(row).as_bytes()),
            Texts::Coded(codes, texts, nulls) => {
                let code = usize::try_from(codes[row]).ok()?;
                (nulls.is_none_or(|nulls| nulls.is_valid(row)) && code < texts.len())
                    .then(|| texts.value(code).as_bytes())
            }
        }
    }
}

/// Texts as numbers in `distinct`; what one hash of one file gave is remembered.
struct Resolver<'a> {
    book: &'a Book,
    kinds: &'a [HashKind],
    distinct: Interner,
    known: FxHashMap<Vec<u8>, Option<i32>>,
    last: Option<(*const u8, usize, Option<i32>)>,
}

impl Resolver<'_> {
    fn code(&mut self, hash: &[u8], file: usize) -> Option<i32> {
        // Coded columns give the same bytes at the same place again and again.
        if let Some((place, length, code)) = self.last {
            if place == hash.as_ptr() && length == hash.len() {
                return code;
            }
        }
        let code = match self.known.get(hash) {
            Some(code) => *code,
            None => match self.book.find(self.kinds, hash) {
                Some(Meaning::PerFile(files)) => {
                    let text = files.get(&file).and_then(Option::as_ref);
                    return text.map(|text| self.distinct.intern(text) as i32);
                }
                Some(Meaning::Everywhere(text)) => {
                    let code = Some(self.distinct.intern(text) as i32);
                    self.known.insert(hash.to_vec(), code);
                    code
                }
                None => {
                    self.known.insert(hash.to_vec(), None);
                    None
                }
            },
        };
        self.last = Some((hash.as_ptr(), hash.len(), code));
        code
    }
}

/// The texts of a column of hashes; None if it is no column of texts. Also how many hashes have none, by file.
pub fn resolve(
    rows: &Rows,
    kinds: &[HashKind],
    book: &Book,
) -> Result<Option<(Vec<ArrayRef>, BTreeMap<usize, u64>)>, ArrowError> {
    let mut resolver = Resolver {
        book,
        kinds,
        distinct: Interner::default(),
        known: FxHashMap::default(),
        last: None,
    };
    let mut unknown = BTreeMap::new();
    let mut coded = Vec::with_capacity(rows.arrays.len());
    for (index, array) in rows.arrays.iter().enumerate() {
        let Some(hashes) = Texts::of(array) else {
            return Ok(None);
        };
        let direct = rows
            .direct
            .and_then(|arrays| arrays.get(index))
            .and_then(Texts::of);
        let mut codes = vec![0; array.len()];
        let mut valid = vec![false; array.len()];
        let segments = rows.files[index]
            .iter()
            .map(|(start, _)| *start)
            .skip(1)
            .chain([array.len()]);
        let mut row = 0;
        for ((_, file), end) in rows.files[index].iter().zip(segments) {
            while row < end {
                let code = match (
                    direct.as_ref().and_then(|texts| texts.get(row)),
                    hashes.get(row),
                ) {
                    (Some(text), _) => Some(resolver.distinct.intern(text) as i32),
                    (None, None) => None,
                    (None, Some(hash)) => {
                        let code = resolver.code(hash, *file);
                        if code.is_none() {
                            *unknown.entry(*file).or_default() += 1;
                        }
                        code
                    }
                };
                codes[row] = code.unwrap_or(0);
                valid[row] = code.is_some();
                row += 1;
            }
        }
        let nulls = NullBuffer::from(valid);
        coded.push((codes, (nulls.null_count() > 0).then_some(nulls)));
    }
    let arrays = coded_arrays(coded, resolver.distinct, &mut 0)?;
    Ok(Some((arrays, unknown)))
}

/// Nulls of the type of texts, one array per batch.
pub fn no_texts(rows: &[usize]) -> Vec<ArrayRef> {
    rows.iter()
        .map(|rows| Arc::new(StringArray::new_null(*rows)) as ArrayRef)
        .collect()
}
