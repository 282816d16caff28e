//! The partitions that may have an open span, for inputs that meet all of them at once.

/// A set of partition codes in order of entry.
#[derive(Default)]
pub struct Active {
    codes: Vec<u32>,
    member: Vec<bool>,
}

impl Active {
    #[inline]
    pub fn insert(&mut self, code: u32) {
        let place = code as usize;
        if place >= self.member.len() {
            self.member.resize(place + 1, false);
        }
        if !self.member[place] {
            self.member[place] = true;
            self.codes.push(code);
        }
    }

    /// Visit the members and drop those for which the visitor returns false.
    pub fn retain(&mut self, mut visit: impl FnMut(u32) -> bool) {
        let member = &mut self.member;
        self.codes.retain(|&code| {
            let stays = visit(code);
            member[code as usize] = stays;
            stays
        });
    }
}
