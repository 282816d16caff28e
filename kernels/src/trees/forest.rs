//! Find the row of each row's parent from ids and parent ids; cycles are cut.

use rustc_hash::FxHashMap;

/// Means that a row has no parent.
pub const NONE: usize = usize::MAX;

/// Rows by their parents.
pub struct Forest {
    /// The row of each row's parent, or NONE.
    pub parent: Vec<usize>,
    rows: FxHashMap<i64, usize>,
}

impl Forest {
    /// Among several rows with one id, the first counts; an unknown parent id means no parent.
    pub fn new(ids: &[Option<i64>], parents: &[Option<i64>]) -> Self {
        let mut rows = FxHashMap::with_capacity_and_hasher(ids.len(), Default::default());
        for (row, id) in ids.iter().enumerate() {
            if let Some(id) = id {
                rows.entry(*id).or_insert(row);
            }
        }
        let parent =
            parents.iter().map(|parent| parent.and_then(|parent| rows.get(&parent).copied()).unwrap_or(NONE)).collect();
        let mut forest = Self { parent, rows };
        forest.cut();
        forest
    }

    /// The row of an id.
    pub fn row(&self, id: i64) -> Option<usize> {
        self.rows.get(&id).copied()
    }

    /// The row of a row's parent.
    pub fn above(&self, row: usize) -> Option<usize> {
        self.parent.get(row).copied().filter(|&parent| parent != NONE)
    }

    /// Make the first row of each cycle a root, so that every walk upwards ends.
    fn cut(&mut self) {
        const FRESH: u8 = 0;
        const WALKED: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![FRESH; self.parent.len()];
        for first in 0..self.parent.len() {
            let (mut at, mut walk) = (first, Vec::new());
            while let Some(mark @ &mut FRESH) = state.get_mut(at) {
                *mark = WALKED;
                walk.push(at);
                at = self.parent.get(at).copied().unwrap_or(NONE);
            }
            if state.get(at) == Some(&WALKED)
                && let Some(parent) = self.parent.get_mut(at)
            {
                *parent = NONE;
            }
            for row in walk {
                if let Some(mark) = state.get_mut(row) {
                    *mark = DONE;
                }
            }
        }
    }

    /// Give each row a value that depends on its parent's; parents first, in any order of rows.
    pub fn fold<T: Copy>(&self, mut make: impl FnMut(usize, Option<T>) -> T) -> Vec<T> {
        let mut values: Vec<Option<T>> = vec![None; self.parent.len()];
        let mut walk = Vec::new();
        for row in 0..self.parent.len() {
            let mut at = Some(row);
            while let Some(here) = at
                && values.get(here).is_some_and(Option::is_none)
            {
                walk.push(here);
                at = self.above(here);
            }
            while let Some(here) = walk.pop() {
                let parent = self.above(here).and_then(|above| values.get(above).copied().flatten());
                if let Some(value) = values.get_mut(here) {
                    *value = Some(make(here, parent));
                }
            }
        }
        values.into_iter().flatten().collect()
    }
}
