//! Python objects for forests.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;

use super::file;
use super::kind::Kind;
use super::monoid::Monoid;
use super::nodes::{Growing, Mapped};
use super::tree::Forest as Tree;
use crate::exchange::{PyArray, array, array_to_python, bytes};

type Values = Box<dyn Monoid>;

enum Held {
    Growing(Tree<Values, Growing>),
    Mapped(Tree<Values, Mapped>),
}

/// Aggregates over any range of a growing column; see `dctv/_kernels.pyi`.
#[pyclass(module = "dctv._kernels")]
pub struct Forest {
    kind: Kind,
    held: Held,
    /// The text that values of texts are parts of.
    text: String,
}

fn invalid(error: ArrowError) -> PyErr {
    match error {
        ArrowError::InvalidArgumentError(text) => PyValueError::new_err(text),
        other => PyValueError::new_err(other.to_string()),
    }
}

impl Forest {
    fn leaves(&self) -> usize {
        match &self.held {
            Held::Growing(tree) => tree.leaves(),
            Held::Mapped(tree) => tree.leaves(),
        }
    }

    fn growing(&mut self) -> PyResult<&mut Tree<Values, Growing>> {
        match &mut self.held {
            Held::Growing(tree) => Ok(tree),
            Held::Mapped(_) => Err(PyValueError::new_err("a forest that was opened cannot be changed")),
        }
    }

    /// A range of leaves, if it is within bounds.
    fn range(&self, first: i64, end: i64) -> PyResult<(usize, usize)> {
        let leaves = self.leaves();
        let range = usize::try_from(first).ok().zip(usize::try_from(end).ok());
        let range = range.filter(|(first, end)| first <= end && *end <= leaves);
        range.ok_or_else(|| PyIndexError::new_err(format!("leaves {first} to {end} are not within 0 to {leaves}")))
    }

    fn made(&self, values: PyArray, states: Option<PyArray>, before: usize) -> PyResult<(Vec<u64>, String)> {
        let values = array(values);
        let states = states.map(array);
        if states.as_ref().is_some_and(|states| states.len() != values.len()) {
            return Err(PyValueError::new_err("there are more or fewer states than values"));
        }
        let made = self.kind.leaves(&values, states.as_ref(), before, self.text.len());
        made.map_err(invalid)
    }
}

#[pymethods]
impl Forest {
    #[new]
    #[pyo3(signature = (monoid, *, states=0))]
    fn new(monoid: &str, states: usize) -> PyResult<Forest> {
        let kind = Kind::named(monoid, states).map_err(PyValueError::new_err)?;
        Ok(Forest { kind, held: Held::Growing(Tree::new(kind.monoid())), text: String::new() })
    }

    /// A saved forest, with nodes in the mapped file.
    #[staticmethod]
    fn open(py: Python<'_>, saved: PyArray) -> PyResult<Forest> {
        let bytes = bytes(saved)?;
        let opened = py.detach(|| file::open(&bytes));
        let opened =
            opened.map_err(|what| PyValueError::new_err(format!("this is no forest that can be read: {what}")))?;
        Ok(Forest {
            kind: opened.kind,
            held: Held::Mapped(Tree::of(opened.kind.monoid(), opened.nodes, opened.leaves)),
            text: opened.text,
        })
    }

    fn __len__(&self) -> usize {
        self.leaves()
    }

    #[getter]
    fn monoid(&self) -> &'static str {
        self.kind.name()
    }

    #[getter]
    fn states(&self) -> usize {
        self.kind.states()
    }

    #[pyo3(signature = (values, states=None))]
    fn append(&mut self, py: Python<'_>, values: PyArray, states: Option<PyArray>) -> PyResult<()> {
        let (words, text) = self.made(values, states, self.leaves())?;
        let tree = self.growing()?;
        py.detach(|| tree.extend(&words));
        self.text.push_str(&text);
        Ok(())
    }

    #[pyo3(signature = (leaf, value, states=None))]
    fn update(&mut self, leaf: i64, value: PyArray, states: Option<PyArray>) -> PyResult<()> {
        let (place, _) = self.range(leaf, leaf.saturating_add(1))?;
        if self.kind == Kind::Text {
            return Err(PyValueError::new_err("a text cannot be replaced in what it is a part of"));
        }
        let (words, _) = self.made(value, states, place)?;
        let tree = self.growing()?;
        if words.len() != tree.monoid.width() {
            return Err(PyValueError::new_err("expected one value"));
        }
        tree.update(place, &words);
        Ok(())
    }

    fn aggregate(&self, py: Python<'_>, first: PyArray, end: PyArray) -> PyResult<PyArray> {
        let (first, end) = (array(first), array(end));
        let bounds = |column: &ArrayRef| {
            let found = column.as_primitive_opt::<Int64Type>();
            let found = found.filter(|found| found.null_count() == 0);
            found.map(|found| found.values().to_vec()).ok_or_else(|| PyValueError::new_err("expected bounds of int64"))
        };
        let (first, end) = (bounds(&first)?, bounds(&end)?);
        if first.len() != end.len() {
            return Err(PyValueError::new_err("there are more or fewer ends than begins"));
        }
        let ranges = first.into_iter().zip(end).map(|(first, end)| self.range(first, end));
        let ranges = ranges.collect::<PyResult<Vec<_>>>()?;
        let column = py.detach(|| {
            let monoid = self.kind.monoid();
            let width = monoid.width();
            let mut words = vec![0; ranges.len() * width];
            for (value, (first, end)) in words.chunks_exact_mut(width).zip(ranges) {
                monoid.identity(value);
                match &self.held {
                    Held::Growing(tree) => tree.gather(first, end, value),
                    Held::Mapped(tree) => tree.gather(first, end, value),
                }
            }
            self.kind.column(&words, &self.text)
        });
        Ok(array_to_python(&column.map_err(invalid)?))
    }

    fn search(&self, first: i64, end: i64, bound: i64) -> PyResult<Option<usize>> {
        let (first, end) = self.range(first, end)?;
        let test = self.kind.reaches(bound);
        let test = test.ok_or_else(|| PyValueError::new_err(format!("`{}` reaches no bound", self.kind.name())))?;
        Ok(match &self.held {
            Held::Growing(tree) => tree.search(first, end, test),
            Held::Mapped(tree) => tree.search(first, end, test),
        })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| -> io::Result<()> {
            let mut out = BufWriter::new(File::create_new(&path)?);
            let leaves = self.leaves();
            match &self.held {
                Held::Growing(tree) => file::write(self.kind, &tree.nodes, leaves, &self.text, &mut out),
                Held::Mapped(tree) => file::write(self.kind, &tree.nodes, leaves, &self.text, &mut out),
            }?;
            out.flush()?;
            out.get_ref().sync_all()
        });
        written.map_err(|error| PyOSError::new_err((error.raw_os_error(), error.to_string(), path)))
    }
}
