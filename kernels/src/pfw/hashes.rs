//! Resolve columns of hashes to columns of text, by the metadata records that define the hashes.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::ArrowError;
use rustc_hash::{FxHashMap, FxHashSet};

use super::decode::HashKind;
use super::report::{Report, Trouble};
use crate::columns::{Interner, coded_array};

/// The meaning of a hash.
enum Meaning {
    /// The same text in all files.
    Everywhere(Vec<u8>),
    /// Different texts: one for each file, none if the file itself gives several.
    PerFile(BTreeMap<usize, Option<Vec<u8>>>),
}

/// Hashes are numbered within each kind.
type Number = (HashKind, usize);

/// A hash in a metadata record.
#[derive(Clone, Copy)]
pub struct HashText<'a> {
    pub file: usize,
    pub kind: HashKind,
    pub hash: &'a [u8],
    pub text: &'a [u8],
}

/// All hashes of a trace.
#[derive(Default)]
pub struct Book {
    files: Meanings,
    hosts: Meanings,
    strings: Meanings,
}

/// Hashes of one kind, and the meaning of each, by its number.
#[derive(Default)]
struct Meanings {
    hashes: Interner,
    each: Vec<Meaning>,
}

impl Book {
    /// Collect the records of a trace; hashes with several texts are reported.
    pub fn new<'a>(records: impl Iterator<Item = HashText<'a>> + Clone, report: &mut Report) -> Book {
        let mut book = Book::default();
        let mut clashes: FxHashSet<(HashKind, &[u8])> = FxHashSet::default();
        for record in records.clone() {
            let meanings = book.meanings(record.kind);
            match meanings.each.get(meanings.hashes.intern(record.hash)) {
                None => meanings.each.push(Meaning::Everywhere(record.text.to_vec())),
                Some(Meaning::Everywhere(text)) if *text == record.text => (),
                Some(_) => {
                    clashes.insert((record.kind, record.hash));
                }
            }
        }
        if !clashes.is_empty() {
            for record in records {
                if clashes.contains(&(record.kind, record.hash)) {
                    clash(book.meanings(record.kind), record, report);
                }
            }
        }
        book
    }

    fn meanings(&mut self, kind: HashKind) -> &mut Meanings {
        match kind {
            HashKind::File => &mut self.files,
            HashKind::Host => &mut self.hosts,
            HashKind::String => &mut self.strings,
        }
    }

    fn of_kind(&self, kind: HashKind) -> &Meanings {
        match kind {
            HashKind::File => &self.files,
            HashKind::Host => &self.hosts,
            HashKind::String => &self.strings,
        }
    }

    /// Whether a hash has a text in a file.
    pub fn has(&self, kinds: &[HashKind], hash: &[u8], file: usize) -> bool {
        match self.find(kinds, hash) {
            Some((_, Meaning::Everywhere(_))) => true,
            Some((_, Meaning::PerFile(files))) => files.get(&file).is_some_and(Option::is_some),
            None => false,
        }
    }

    /// The meaning of a hash, and its number.
    fn find(&self, kinds: &[HashKind], hash: &[u8]) -> Option<(Number, &Meaning)> {
        kinds.iter().find_map(|kind| {
            let meanings = self.of_kind(*kind);
            let number = meanings.hashes.find(hash)?;
            Some(((*kind, number), meanings.each.get(number)?))
        })
    }
}

fn clash(meanings: &mut Meanings, record: HashText, report: &mut Report) {
    let Some(meaning) = meanings.hashes.find(record.hash).and_then(|number| meanings.each.get_mut(number)) else {
        return;
    };
    let shown = String::from_utf8_lossy(record.hash).into_owned();
    if let Meaning::Everywhere(first) = meaning {
        let first = String::from_utf8_lossy(first);
        report.note(record.file, Trouble::AmbiguousHash, 1, &format!("{shown}: {first} and others"));
        *meaning = Meaning::PerFile(BTreeMap::new());
    }
    if let Meaning::PerFile(files) = meaning {
        let known = files.entry(record.file).or_insert_with(|| Some(record.text.to_vec()));
        if known.as_ref().is_some_and(|known| known != record.text) {
            *known = None;
        }
    }
}

/// The kinds of records with the texts for a column of hashes, and the name of the column of texts.
pub fn resolution(column: &str) -> Option<(&'static [HashKind], String)> {
    use HashKind::{File, Host, String as Text};
    Some(match column {
        "fhash" => (&[File], "fname".to_owned()),
        "hhash" => (&[Host], "hostname".to_owned()),
        "cwd" => (&[File, Text], "cwd_path".to_owned()),
        "shash" => (&[Text], "shash_text".to_owned()),
        _ => (&[Text, File], column.strip_suffix("_hash").filter(|name| !name.is_empty())?.to_owned()),
    })
}

/// A column of hashes.
pub struct Rows<'a> {
    /// The file of each run of rows, by its first row.
    pub files: &'a [(usize, usize)],
    pub array: &'a ArrayRef,
    /// Texts given directly by some writers, which take precedence.
    pub direct: Option<&'a ArrayRef>,
}

/// A text column, row by row.
pub enum Texts<'a> {
    Plain(&'a StringArray),
    Coded(&'a [i32], &'a StringArray, Option<&'a NullBuffer>),
}

impl<'a> Texts<'a> {
    pub fn of(array: &'a ArrayRef) -> Option<Texts<'a>> {
        if let Some(plain) = array.as_string_opt::<i32>() {
            return Some(Texts::Plain(plain));
        }
        let coded = array.as_dictionary_opt::<Int32Type>()?;
        Some(Texts::Coded(coded.keys().values(), coded.values().as_string_opt()?, coded.nulls()))
    }

    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
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

/// Texts as numbers in `distinct`; results are cached by the number of the hash.
struct Resolver<'a> {
    book: &'a Book,
    kinds: &'a [HashKind],
    distinct: Interner,
    known: FxHashMap<Number, i32>,
    /// By number in the dictionary of the column: the result, if it is the same in all files.
    coded: Vec<Option<Option<i32>>>,
}

impl Resolver<'_> {
    /// The number of the text of a row's hash.
    #[inline]
    fn row(&mut self, hashes: &Texts, row: usize, file: usize) -> Option<i32> {
        let hash = hashes.get(row)?;
        let Texts::Coded(codes, ..) = hashes else {
            return self.code(hash, file).0;
        };
        let place = codes[row] as usize;
        if let Some(Some(known)) = self.coded.get(place) {
            return *known;
        }
        let (code, everywhere) = self.code(hash, file);
        if everywhere {
            self.coded.resize(self.coded.len().max(place + 1), None);
            self.coded[place] = Some(code);
        }
        code
    }

    /// The number of the text of a hash, and whether it is the same in all files.
    fn code(&mut self, hash: &[u8], file: usize) -> (Option<i32>, bool) {
        match self.book.find(self.kinds, hash) {
            Some((_, Meaning::PerFile(files))) => {
                let text = files.get(&file).and_then(Option::as_ref);
                (text.map(|text| self.distinct.intern(text) as i32), false)
            }
            Some((number, Meaning::Everywhere(text))) => {
                let code = self.known.entry(number).or_insert_with(|| self.distinct.intern(text) as i32);
                (Some(*code), true)
            }
            None => (None, true),
        }
    }
}

/// The texts of a column of hashes; None if it is not a column of texts.
pub fn resolve(rows: &Rows, kinds: &[HashKind], book: &Book) -> Result<Option<ArrayRef>, ArrowError> {
    let Some(hashes) = Texts::of(rows.array) else {
        return Ok(None);
    };
    let mut resolver =
        Resolver { book, kinds, distinct: Interner::default(), known: FxHashMap::default(), coded: Vec::new() };
    let direct = rows.direct.and_then(Texts::of);
    let mut codes = Vec::with_capacity(rows.array.len());
    let mut nulls = NullBufferBuilder::new(rows.array.len());
    let ends = rows.files.iter().map(|(start, _)| *start).skip(1).chain([rows.array.len()]);
    for ((start, file), end) in rows.files.iter().zip(ends) {
        for row in *start..end {
            let found = match direct.as_ref().and_then(|texts| texts.get(row)) {
                Some(text) => Some(resolver.distinct.intern(text) as i32),
                None => resolver.row(&hashes, row, *file),
            };
            codes.push(found.unwrap_or(0));
            nulls.append(found.is_some());
        }
    }
    coded_array(codes, nulls.finish(), resolver.distinct, &mut 0).map(Some)
}
